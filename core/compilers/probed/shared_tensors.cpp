#include "compilers/probed/shared_tensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/json_fields.h"
#include "interchange/codes.h"

namespace fusescope {
namespace {

constexpr std::size_t kAligned = 64;

Diagnostic refusedBySystem(std::string_view what) {
  return {.message = fmt::format("memory for tensors cannot be {}: {}", what, std::strerror(errno))};
}

std::size_t aligned(std::size_t at) {
  return (at + kAligned - 1) / kAligned * kAligned;
}

Diagnostic doesNotFit(const std::string& name) {
  return {.message = "the probe describes a tensor that is outside the memory that it received",
          .where = {.value = name}};
}

}  // namespace

SharedTensors::~SharedTensors() {
  if (!m_bytes.empty()) ::munmap(m_bytes.data(), m_bytes.size());
}

bool SharedTensors::takes(const Tensor& tensor) {
  return tensor.container() == Container::None && tensor.type() != DataType::String && tensor.hasData() &&
         tensor.type() != DataType::C64;
}

/// The memory cannot be made shorter while it is read.
Status SharedTensors::open() {
  if (m_file.isOpen()) return Done{};
  m_file = Descriptor(::memfd_create("fusescope-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!m_file.isOpen() || ::fcntl(m_file.number(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return refusedBySystem("made");
  return Done{};
}

Status SharedTensors::map(std::size_t bytes) {
  if (bytes <= m_bytes.size()) return Done{};
  if (!m_bytes.empty()) ::munmap(m_bytes.data(), m_bytes.size());
  m_bytes = {};
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_file.number(), 0);
  if (at == MAP_FAILED) return refusedBySystem("mapped");
  m_bytes = {static_cast<std::byte*>(at), bytes};
  return Done{};
}

Result<Json> SharedTensors::put(const std::map<std::string, Tensor>& tensors) {
  TRY(open());
  Json list = Json::array();
  std::map<std::string, Tensor> written;
  std::size_t end = 0;
  for (const auto& [name, given] : tensors) {
    const Tensor& tensor = written[name] = isStoredAsCodes(given.type()) ? codesOf(given) : given;
    end = aligned(end);
    list.push_back({{"name", name}, {"type", toText(tensor.type())}, {"dims", tensor.dims()}, {"at", end}});
    end += tensor.byteSize();
  }
  struct stat facts {};
  if (::fstat(m_file.number(), &facts) != 0) return refusedBySystem("inspected");
  const auto wanted = std::max<std::size_t>(end, 1);
  if (std::cmp_less(facts.st_size, wanted) && ::ftruncate(m_file.number(), static_cast<off_t>(wanted)) != 0)
    return refusedBySystem("had");
  TRY(map(wanted));
  for (const Json& each : list) {
    const Tensor& tensor = written.at(each.at("name").get<std::string>());
    if (tensor.byteSize() > 0)
      std::memcpy(m_bytes.data() + each.at("at").get<std::size_t>(), tensor.bytes(), tensor.byteSize());
  }
  return Json{{"path", fmt::format("/proc/{}/fd/{}", ::getpid(), m_file.number())},
              {"identity", {facts.st_dev, facts.st_ino}},
              {"end", end},
              {"list", std::move(list)}};
}

Result<std::map<std::string, Tensor>> SharedTensors::taken(const Json& list) {
  struct stat facts {};
  if (::fstat(m_file.number(), &facts) != 0) return refusedBySystem("inspected");
  const auto there = static_cast<std::size_t>(facts.st_size);
  TRY(map(there));
  if (!list.is_array()) return Diagnostic{.message = "the probe describes no tensors"};
  std::map<std::string, Tensor> tensors;
  for (const Json& each : list) {
    std::string name, type;
    std::vector<std::int64_t> dims;
    std::int64_t at = 0;
    JsonFields fields(each);
    fields.require("name").read("name", name).read("type", type).read("dims", dims).read("at", at);
    if (fields.error()) return *fields.error();
    const auto of = dataTypeFromName(type);
    const bool isPlain = of && *of != DataType::String && *of != DataType::Undefined && *of != DataType::C64 &&
                         !isStoredAsCodes(*of) &&
                         std::ranges::all_of(dims, [](std::int64_t extent) { return extent >= 0; });
    const auto count = isPlain ? elementCount(dims) : std::nullopt;
    if (!count || at < 0 || std::cmp_greater(*count, there) || std::cmp_greater(at, there)) return doesNotFit(name);
    if (byteSize(*of, *count) > there - static_cast<std::size_t>(at)) return doesNotFit(name);
    Tensor tensor = Tensor::zeros(*of, dims);
    if (tensor.byteSize() > 0) std::memcpy(tensor.mutableBytes(), m_bytes.data() + at, tensor.byteSize());
    tensors.insert_or_assign(name, std::move(tensor));
  }
  return tensors;
}

}  // namespace fusescope
