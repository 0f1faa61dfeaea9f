#pragma once

#include <filesystem>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

/// One value from a file of ONNX's test data: a tensor, or a container of values.
struct FileContent {
  Container container = Container::None;
  FileTensor tensor;                  ///< for a tensor
  std::vector<FileContent> elements;  ///< for a container
};

/// Reads a TensorProto, SequenceProto or OptionalProto. `container` says which, because the bytes do not. An optional
/// without a value has no elements. Errors name the file.
Result<FileContent> readFileContent(const std::filesystem::path& path, Container container);

}  // namespace fusescope::onnxlib
