// Whether keeping packed weights would pay: `packed_benchmark MODEL.onnx …`. Of each network, with its weights in f32,
// in bf16 and as int8: how long packing them from the mapped file takes, and how long reading them packed would take,
// from the store (zstd, hash) and from a plain file. Pages of all files are in memory, which favours reading.
#include <fmt/format.h>
#include <time.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "backends/threads.h"
#include "base/mapped_file.h"
#include "base/temporary_folder.h"
#include "cache/blob_file.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/kernel_store.h"
#include "session/artifact.h"
#include "session/open_model.h"

namespace fusescope {
namespace {

/// Milliseconds of processor time that this process has used.
double usedMs() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Cost {
  std::size_t weights = 0, inFile = 0;
  std::uint64_t bytes = 0, stored = 0;
  double packMs = 0, storeMs = 0, fileMs = 0, writeMs = 0;
};

bool isAmong(const Tensor& packed, std::span<const Tensor> sources) {
  for (const Tensor& source : sources)
    if (packed.bytes() >= source.bytes() && packed.bytes() < source.bytes() + source.byteSize()) return true;
  return false;
}

double plainReadMs(const std::filesystem::path& path) {
  const double start = usedMs();
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::filesystem::file_size(path), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return usedMs() - start;
}

Status measureOne(const Packing& packing, std::span<const Tensor> sources, const std::filesystem::path& folder,
                  Cost& cost) {
  std::ignore = TRY(packing.pack(sources));  // so that the pages of the file are in memory
  double start = usedMs();
  const Tensor made = TRY(packing.pack(sources));
  const double packMs = usedMs() - start;
  ++cost.weights;
  if (isAmong(made, sources)) {
    ++cost.inFile;
    return Done{};
  }
  cost.packMs += packMs;
  cost.bytes += made.byteSize();
  const std::string_view bytes(reinterpret_cast<const char*>(made.bytes()), made.byteSize());
  start = usedMs();
  const BlobFacts facts = TRY(writeBlob(folder / "blob", bytes, {}, {}));
  cost.writeMs += usedMs() - start;
  cost.stored += facts.stored;
  start = usedMs();
  std::ignore = TRY(readBlob(folder / "blob", facts));
  cost.storeMs += usedMs() - start;
  std::ofstream(folder / "plain", std::ios::binary) << bytes;
  cost.fileMs += plainReadMs(folder / "plain");
  return Done{};
}

Status measure(const std::filesystem::path& path, const std::string& types, const PlanOptions& options) {
  const auto model = TRY(openModel(path));
  const auto plan = TRY(makePlan(model, options));
  std::map<std::string, Dims> extents;
  for (const InputSpec& spec : plan->inputSpecs) extents[spec.name] = spec.opt;
  const auto folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-packed"));
  const Backend& backend = *findBackend("native");
  const KernelRequests requests = TRY(KernelRequests::create(*plan, extents, 1));
  Cost cost;
  std::set<std::pair<std::string, const std::byte*>> known;  // tied weights are packed once
  for (const FusedNode& fused : plan->fusedNodes) {
    const auto request = requests.of(fused);
    if (!request.ok()) continue;
    const auto tactics = backend.tactics(request.value());
    if (tactics.empty()) continue;
    const auto code = TRY(backend.compile(request.value(), tactics.front()));
    for (const Packing& packing : code->packings()) {
      std::vector<Tensor> sources;
      const std::byte* first = nullptr;
      for (const std::size_t slot : packing.weightSlots) {
        const Tensor& constant = request.value().constants.at(request.value().weightSlots[slot]);
        if (first == nullptr) first = constant.bytes();
        sources.push_back(constant.aligned());
      }
      if (!sources.empty() && !known.emplace(packing.form, first).second) continue;
      TRY(measureOne(packing, sources, folder.path(), cost));
    }
  }
  constexpr double kMebibyte = 1 << 20;
  fmt::print(
      "{} {}: {} weights, {} of them read where they lie; {:.1f} MiB packed in {:.1f} ms; from the store {:.1f} ms "
      "({:.2f} of the bytes), from a plain file {:.1f} ms; written in {:.1f} ms\n",
      path.filename().string(), types, cost.weights, cost.inFile, static_cast<double>(cost.bytes) / kMebibyte,
      cost.packMs, cost.storeMs,
      cost.bytes == 0 ? 0 : static_cast<double>(cost.stored) / static_cast<double>(cost.bytes), cost.fileMs,
      cost.writeMs);
  std::fflush(stdout);
  return Done{};
}

}  // namespace
}  // namespace fusescope

int main(int argc, char** argv) {
  using namespace fusescope;
  const std::vector<std::pair<std::string, PlanOptions>> asked{
      {"f32", {}}, {"bf16", {.precisions = {DataType::BF16}}}, {"int8", {.weightOnly = {.type = DataType::I8}}}};
  setThreads(1);
  for (int i = 1; i < argc; ++i)
    for (const auto& [types, options] : asked)
      if (const auto status = measure(argv[i], types, options); !status.ok())
        std::fprintf(stderr, "%s: %s\n", argv[i], status.error().text().c_str());
}
