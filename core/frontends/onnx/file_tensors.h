#pragma once

#include <string>

#include "ir/tensor.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Converts a tensor to the form of files; it shares the data.
onnxlib::FileTensor fileTensor(const std::string& name, const Tensor& tensor);
/// Converts a tensor of a file to a view of it, whose elements may begin at any address.
Tensor toTensor(const onnxlib::FileTensor& tensor);
/// Converts a type to the form in which files declare it.
onnxlib::FileType fileType(const TensorType& type);

}  // namespace fusescope
