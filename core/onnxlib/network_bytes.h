#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"

namespace fusescope::onnxlib {

/// The bytes of a network: its .onnx file, and the file with its weights beside it, if there is one.
struct NetworkBytes {
  std::string model;
  std::vector<std::span<const std::byte>> weights;  ///< consecutive pieces; empty if everything is in `model`
  MappedFiles files;  ///< the files of the network that was read; `weights` are views of them
  std::vector<std::shared_ptr<const void>> owners;  ///< owners of the other pieces of `weights`
};

}  // namespace fusescope::onnxlib
