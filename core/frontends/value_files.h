#pragma once

#include <filesystem>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Reads one value from a file of ONNX's test data (`input_0.pb`): a tensor, or a container with all that is in it.
/// `declared` says which container the file holds and the element type of one that is empty.
Result<Tensor> readValueFile(const std::filesystem::path& path, const TensorType& declared);

}  // namespace fusescope
