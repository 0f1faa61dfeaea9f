#pragma once

#include <filesystem>
#include <memory>

#include "base/deferred_file.h"
#include "base/result.h"
#include "onnxlib/edited_network.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The files of a network that a compiler receives.
struct HandedFiles {
  onnxlib::FileModel file;                ///< the contents of the .onnx file; its weights are views of mapped files
  std::shared_ptr<DeferredFile> weights;  ///< the file with its weights, if it is not written yet; else null
};

/// Writes the network to `path`, in a folder of its own, and its weights beside it. Weights that lie in files of the
/// user, which did not change within the last seconds, are written only when somebody reads them: an answer that is
/// kept needs no weights. If this process wrote the same weights before, and that folder exists, the new file is
/// another name of the former one. Nothing is flushed to disk, because nobody reads it after a power failure. Errors:
/// those of writing; a file of the user changed.
Result<HandedFiles> handOver(const std::filesystem::path& path, onnxlib::NetworkBytes network);

/// Writes the network to `path` in the same way, and all its weights at once.
Status writeHanded(const std::filesystem::path& path, const onnxlib::NetworkBytes& network);

}  // namespace fusescope
