#pragma once

#include <string>

#include "ir/tensor.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Converts a tensor to the form of files; it shares the data.
onnxlib::FileTensor fileTensor(const std::string& name, const Tensor& tensor);
/// Converts a tensor of a file to a view of it, whose elements may begin at any address.
Tensor toTensor(const onnxlib::FileTensor& tensor);
/// Returns whether two tensors with the same name are equal in type, extents and bytes.
bool sameTensor(const onnxlib::FileTensor& a, const onnxlib::FileTensor& b);
/// Converts a type that a file declares.
TensorType toType(const onnxlib::FileType& type);
/// Converts a type to the form in which files declare it.
onnxlib::FileType fileType(const TensorType& type);

}  // namespace fusescope
