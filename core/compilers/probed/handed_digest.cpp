#include "compilers/probed/handed_digest.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <span>

#include "base/elapsed.h"
#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "probe/sha256.h"

namespace fusescope {
namespace {

constexpr const char* kSourceSuffix = ".source";
/// The most bytes of weights that are in no file, such as padding and tensors that were calculated.
constexpr std::size_t kMostInMemory = std::size_t{16} << 20;
/// Nanoseconds after which a file counts as unchanged. Two changes within one tick of the file system's clock may have
/// the same time.
constexpr std::int64_t kSettledNs = 5'000'000'000;

struct Digests {
  std::mutex mutex;
  std::map<FileIdentity, std::string> byFile;
};

Digests& digests() {
  static Digests ofProcess;
  return ofProcess;
}

std::string_view textIn(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::int64_t nanosecondsNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns whether no later change of the file can leave it with this identity.
bool isSettled(const FileIdentity& file) {
  return file.changedNs + kSettledNs <= nanosecondsNow();
}

/// Returns the key of a digest. It is empty if weights are not in files, or if their files were changed only recently.
std::string sourceOf(const onnxlib::NetworkBytes& network) {
  Json pieces = Json::array();
  std::size_t inMemory = 0;
  for (const std::span<const std::byte> piece : network.weights) {
    const auto file = std::ranges::find_if(network.files, [&](const auto& each) { return each->holds(piece.data()); });
    if (file == network.files.end()) {
      if ((inMemory += piece.size()) > kMostInMemory) return {};
      pieces.push_back({sha256OfText(textIn(piece)), piece.size()});
    } else {
      pieces.push_back({file - network.files.begin(), piece.data() - (*file)->bytes().data(), piece.size()});
    }
  }
  Json files = Json::array();
  for (const auto& file : network.files) {
    const FileIdentity& id = file->identity();
    if (!isSettled(id)) return {};
    files.push_back({id.device, id.inode, id.bytes, id.modifiedNs, id.changedNs});
  }
  return Json{{"format", "fusescope.digest.1"}, {"files", files}, {"pieces", pieces}}.dump();
}

}  // namespace

Status noteSource(const std::filesystem::path& weights, const onnxlib::NetworkBytes& network) {
  const std::string source = sourceOf(network);
  if (source.empty()) return Done{};
  const auto bytes = std::as_bytes(std::span(source.data(), source.size()));
  return writePiecesAtomically(weights.string() + kSourceSuffix, std::span(&bytes, 1));
}

Result<std::string> handedSha256(KeptStore& store, const std::filesystem::path& path, const StopToken& stop) {
  const FileIdentity identity = TRY(identityOf(path));
  const bool isLasting = isSettled(identity);
  if (isLasting) {
    const std::lock_guard lock(digests().mutex);
    if (const auto known = digests().byFile.find(identity); known != digests().byFile.end()) return known->second;
  }
  const auto source = readTextFile(path.string() + kSourceSuffix);
  std::string digest;
  if (source.ok())
    if (const auto kept = store.find(kDigestKind, source.value())) digest = kept->bytes;
  if (digest.empty()) {
    const auto start = std::chrono::steady_clock::now();
    digest = TRY(sha256OfFile(path, stop));
    if (source.ok())
      store.keep({.kind = kDigestKind,
                  .about = "SHA-256 of the weights that are handed over",
                  .madeBy = std::string(kFusescopeVersion),
                  .madeMs = msSince(start)},
                 source.value(), digest);
  }
  if (isLasting) {
    const std::lock_guard lock(digests().mutex);
    digests().byFile.insert_or_assign(identity, digest);
  }
  return digest;
}

}  // namespace fusescope
