#include "probe/witness.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/trimmed.h"
#include "probe/listeners.h"

extern char** environ;

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// The same prefixes as VARIABLES in witness.py, and those of variables that determine which Python is started.
constexpr std::array kPrefixes{"PYTHON", "LD_",      "CUDA_", "NVIDIA_", "ORT_",    "ONNX",        "OPENVINO",
                               "OV_",    "TENSORRT", "TRT_",  "TORCH",   "PYTORCH", "TRITON",      "MKL",
                               "DNNL",   "ONEDNN",   "OMP_",  "KMP_",    "GOMP_",   "VIRTUAL_ENV", "CONDA_PREFIX",
                               "PATH=",  "HOME=",    "ATEN_", "CUDNN_",  "CUBLAS_", "CC=",         "CXX="};
constexpr std::array kCpuFields{"vendor_id",       "cpu family", "model",       "model name",
                                "stepping",        "microcode",  "flags",       "Features",
                                "CPU implementer", "CPU part",   "CPU variant", "CPU revision"};

std::string textOfFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

Json cpuFacts() {
  Json facts = Json::object();
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name(trimmed(std::string_view(line).substr(0, colon)));
    if (std::ranges::find(kCpuFields, name) != kCpuFields.end())
      facts[name] = trimmed(std::string_view(line).substr(colon + 1));
  }
  return facts;
}

Json cardFacts() {
  std::vector<std::string> cards;
  std::error_code none;
  for (fs::directory_iterator card("/proc/driver/nvidia/gpus", none), end; !none && card != end; card.increment(none))
    cards.push_back(textOfFile(card->path() / "information"));
  std::ranges::sort(cards);
  return cards;
}

/// Lists the names in /dev that represent accelerators. They change when a driver starts or stops working.
Json deviceFacts() {
  constexpr std::array kDevices{"nvidia", "dri", "dxg", "accel", "kfd"};
  std::vector<std::string> devices;
  std::error_code none;
  for (fs::directory_iterator entry("/dev", none), end; !none && entry != end; entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    if (std::ranges::any_of(kDevices, [&](const char* device) { return name.starts_with(device); }))
      devices.push_back(name);
  }
  std::ranges::sort(devices);
  return devices;
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Returns whether a file is unchanged since its entry in a witness was written.
bool isFileUnchanged(const Json& entry) {
  if (!entry.is_array() || entry.size() != 7 || !entry[0].is_string()) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!entry[i].is_number_integer()) return false;
  struct stat found {};
  const auto size = entry[1].get<std::int64_t>();
  if (::stat(entry[0].get_ref<const std::string&>().c_str(), &found) != 0) return size == -1;
  return size == found.st_size && entry[2] == nanoseconds(found.st_mtim) && entry[3] == nanoseconds(found.st_ctim) &&
         entry[4].get<std::uint64_t>() == found.st_ino;
}

}  // namespace

Result<Json> askWitness(const Environment& environment, std::string_view compiler, const StopToken& stop,
                        const ProbeOptions& options) {
  const auto listener = TRY(listenerIn(environment, options, stop));
  const auto [job, mailbox] = listener->newJob();
  listener->send({{"op", "witness"}, {"job", job}, {"compiler", compiler}});
  const auto frame = mailbox->take(stop, Mailbox::Clock::now() + options.handshake);
  listener->forget(job);
  const auto answer = TRY(frame);
  const Json witness = answer ? answer->header.value("witness", Json()) : Json();
  if (witness.is_object()) return witness;
  return Diagnostic{.message = "the probe does not report what the answers of its compilers depend on"};
}

bool isUnchanged(const Json& witness) {
  const auto files = witness.is_object() ? witness.find("files") : witness.end();
  return witness.is_object() && files != witness.end() && files->is_array() && !files->empty() &&
         std::ranges::all_of(*files, isFileUnchanged);
}

Json factsOfThisMachine() {
  Json variables = Json::object();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool bears = std::ranges::any_of(kPrefixes, [&](const char* prefix) { return text.starts_with(prefix); });
    if (const std::size_t equals = text.find('='); bears && equals != std::string_view::npos)
      variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  cpu_set_t may;
  CPU_ZERO(&may);
  const int cpus = ::sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 0;
  utsname system{};
  ::uname(&system);
  return {{"variables", std::move(variables)},
          {"machine",
           {{"cpu", cpuFacts()},
            {"cpus", cpus},
            {"system", system.release},
            {"driver", textOfFile("/proc/driver/nvidia/version")},
            {"cards", cardFacts()},
            {"devices", deviceFacts()}}}};
}

}  // namespace fusescope
