#pragma once

#include <filesystem>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Reads one value from a file of ONNX's test data (`input_0.pb`): a tensor, or a container with its contents.
/// `declared` gives the container that the file contains, and the element type of an empty one.
Result<Tensor> readValueFile(const std::filesystem::path& path, const TensorType& declared);

}  // namespace fusescope
