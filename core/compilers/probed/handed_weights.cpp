#include "compilers/probed/handed_weights.h"

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/mapped_file.h"
#include "compilers/probed/handed_digest.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// Where this process wrote weights last, by their sources. The files may be gone.
struct WrittenWeights {
  std::mutex mutex;
  std::map<std::string, fs::path> bySource;
};

WrittenWeights& writtenWeights() {
  static WrittenWeights ofProcess;
  return ofProcess;
}

/// Gives weights that this process wrote before another name. Returns false if there are none, or if the file system
/// has no such names.
bool isLinked(const std::string& source, const fs::path& path) {
  const std::scoped_lock lock(writtenWeights().mutex);
  const auto known = writtenWeights().bySource.find(source);
  if (known == writtenWeights().bySource.end()) return false;
  std::error_code failed;
  fs::create_hard_link(known->second, path, failed);
  if (failed) writtenWeights().bySource.erase(known);
  return !failed;
}

Status writeWeights(const fs::path& path, const onnxlib::NetworkBytes& network) {
  return writePiecesAtomically(
      path, network.weights, [&] { return checkIntact(network.files); }, network.files);
}

Status writeOrLink(const fs::path& path, const onnxlib::NetworkBytes& network, const std::string& source) {
  TRY(checkIntact(network.files));
  if (isLinked(source, path)) return Done{};
  TRY(writeWeights(path, network));
  const std::scoped_lock lock(writtenWeights().mutex);
  writtenWeights().bySource.insert_or_assign(source, path);
  return Done{};
}

Status writeModel(const fs::path& path, const onnxlib::NetworkBytes& network) {
  const auto model = std::as_bytes(std::span(network.model.data(), network.model.size()));
  return writePiecesAtomically(path, std::span(&model, 1), [&] { return checkIntact(network.files); });
}

}  // namespace

Status writeHanded(const fs::path& path, const onnxlib::NetworkBytes& network) {
  if (!network.weights.empty()) TRY(writeWeights(path.parent_path() / onnxlib::weightsNameOf(path), network));
  return writeModel(path, network);
}

Result<HandedFiles> handOver(const fs::path& path, onnxlib::NetworkBytes network) {
  std::string source = network.weights.empty() ? std::string() : sourceOf(network);
  if (source.empty()) {
    TRY(writeHanded(path, network));
    return HandedFiles{.file = TRY(onnxlib::readModel(path)), .weights = nullptr};
  }
  TRY(writeModel(path, network));
  const std::string name = onnxlib::weightsNameOf(path);
  const fs::path weights = path.parent_path() / name;
  TRY(noteSource(weights, source));
  const auto shared = std::make_shared<const onnxlib::NetworkBytes>(std::move(network));
  HandedFiles files{.file = TRY(onnxlib::readModel(path, {.weights = shared, .weightsName = name})),
                    .weights = nullptr};
  files.file.files.insert(files.file.files.end(), shared->files.begin(), shared->files.end());
  files.weights = std::make_shared<DeferredFile>(
      weights, [weights, shared, source = std::move(source)] { return writeOrLink(weights, *shared, source); });
  return files;
}

}  // namespace fusescope
