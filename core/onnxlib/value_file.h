#pragma once

#include <filesystem>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

/// One value as a file of ONNX's test data holds it: a tensor, or a container of values.
struct FileContent {
  Container container = Container::None;
  FileTensor tensor;                  ///< of a plain tensor
  std::vector<FileContent> elements;  ///< of a container
};

/// Reads a TensorProto, SequenceProto or OptionalProto: which one `container` says, for the bytes do not. An optional
/// without a value has no elements. Errors name the file.
Result<FileContent> readValueFile(const std::filesystem::path& path, Container container);

}  // namespace fusescope::onnxlib
