#pragma once

#include <string>

#include "ir/tensor.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// A tensor as a file holds it; it shares the data.
onnxlib::FileTensor fileTensor(const std::string& name, const Tensor& tensor);
/// The inverse, a view of the file: its elements may lie at any address.
Tensor toTensor(const onnxlib::FileTensor& tensor);
/// A type as a file declares it.
onnxlib::FileType fileType(const TensorType& type);

}  // namespace fusescope
