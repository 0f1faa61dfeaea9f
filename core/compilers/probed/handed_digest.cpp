#include "compilers/probed/handed_digest.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <span>

#include "base/deferred_file.h"
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

Result<std::string> sha256OfUnchanged(const std::filesystem::path& path, const StopToken& stop) {
  const FileIdentity identity = TRY(identityOf(path));
  const bool isLasting = isSettled(identity);
  if (isLasting) {
    const std::lock_guard lock(digests().mutex);
    if (const auto known = digests().byFile.find(identity); known != digests().byFile.end()) return known->second;
  }
  std::string digest = TRY(sha256OfFile(path, stop));
  if (isLasting) {
    const std::lock_guard lock(digests().mutex);
    digests().byFile.insert_or_assign(identity, digest);
  }
  return digest;
}

}  // namespace

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

Status noteSource(const std::filesystem::path& weights, std::string_view source) {
  const auto bytes = std::as_bytes(std::span(source.data(), source.size()));
  return writePiecesAtomically(weights.string() + kSourceSuffix, std::span(&bytes, 1));
}

std::string notedSource(const std::filesystem::path& file) {
  auto source = readTextFile(file.string() + kSourceSuffix);
  return source.ok() ? std::move(source).value() : std::string();
}

Result<std::string> handedSha256(KeptStore& store, const std::filesystem::path& path, const StopToken& stop) {
  const std::string source = notedSource(path);
  if (!source.empty())
    if (const auto kept = store.find(kDigestKind, source)) return kept->bytes;
  TRY(writeDeferred(path));
  if (source.empty()) return sha256OfUnchanged(path, stop);
  const auto start = std::chrono::steady_clock::now();
  std::string digest = TRY(sha256OfFile(path, stop));
  store.keep({.kind = kDigestKind,
              .about = "SHA-256 of the weights that are handed over",
              .madeBy = std::string(kFusescopeVersion),
              .madeMs = msSince(start)},
             source, digest);
  return digest;
}

bool isSha256Kept(KeptStore& store, const std::filesystem::path& path) {
  const std::string source = notedSource(path);
  return !source.empty() && store.find(kDigestKind, source).has_value();
}

}  // namespace fusescope
