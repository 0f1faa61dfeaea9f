#include "compilers/probed/compiled_network.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/deferred_file.h"
#include "base/mapped_file.h"
#include "compilers/probed/handed_digest.h"

namespace fusescope {
namespace {

/// The most bytes of a network that a process keeps while nobody uses it.
constexpr std::uintmax_t kMostKept = std::uintmax_t{64} << 20;

bool areSameBytes(const std::filesystem::path& a, const std::filesystem::path& b) {
  if (const std::string source = notedSource(a); !source.empty() && source == notedSource(b)) return true;
  if (!writeDeferred(a).ok() || !writeDeferred(b).ok()) return false;
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(a, failed);
  if (failed || std::filesystem::file_size(b, failed) != size || failed) return false;
  if (size == 0) return true;
  const auto first = MappedFile::open(a), second = MappedFile::open(b);
  if (!first.ok() || !second.ok()) return false;
  const auto here = first.value()->bytes(), there = second.value()->bytes();
  return here.size() == there.size() && std::memcmp(here.data(), there.data(), here.size()) == 0 &&
         first.value()->checkIntact().ok() && second.value()->checkIntact().ok();
}

}  // namespace

CompiledNetwork::~CompiledNetwork() {
  letGo();
}

void CompiledNetwork::run() {
  const std::unique_ptr<KeptJob> former = std::move(kept);
  if (former == nullptr) return;
  job = former->takeLive();
  loaded = former->loaded();
  folders = former->takeFolders();
}

void CompiledNetwork::letGo() {
  run();
  std::unique_ptr<ProbeJob> idle = std::move(job);
  if (idle == nullptr || !idle->isThere()) return;
  if (totalBytes(filesOf(*m_network)) <= kMostKept) m_compiler.giveBack(std::move(idle));
}

bool CompiledNetwork::answers(const Json& asked, const CompilerInput& network) const {
  if (asked.contains("values") && kept == nullptr && job == nullptr) return false;
  Json withValues = asked;
  withValues["values"] = true;
  if (request != asked && request != withValues) return false;
  const auto here = filesOf(*m_network), there = filesOf(network);
  return std::ranges::equal(
      here, there, [](const auto& a, const auto& b) { return a.first == b.first && areSameBytes(a.second, b.second); });
}

}  // namespace fusescope
