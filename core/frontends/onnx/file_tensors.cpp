#include "frontends/onnx/file_tensors.h"

#include <memory>

namespace fusescope {

Tensor toTensor(const onnxlib::FileTensor& tensor) {
  if (!tensor.hasData) return Tensor::withoutData(tensor.dtype, tensor.dims);
  if (tensor.dtype == DataType::String) return Tensor::ofStrings(tensor.dims, tensor.strings);
  if (tensor.data == nullptr) return Tensor::zeros(tensor.dtype, tensor.dims);
  return Tensor::view(tensor.dtype, tensor.dims, tensor.owner, tensor.data);
}

onnxlib::FileTensor fileTensor(const std::string& name, const Tensor& tensor) {
  const auto owner = std::make_shared<const Tensor>(tensor);
  onnxlib::FileTensor made{
      .name = name, .dtype = tensor.type(), .dims = tensor.dims(), .owner = owner, .hasData = true};
  if (tensor.type() == DataType::String) {
    made.strings = tensor.strings();
  } else {
    made.data = owner->bytes();
  }
  return made;
}

onnxlib::FileType fileType(const TensorType& type) {
  onnxlib::FileType made{.dtype = type.dtype, .ranked = type.shape.ranked, .dims = {}, .container = type.container};
  for (const Dim& dim : type.shape.dims) made.dims.push_back({.size = dim.size, .symbol = dim.symbol});
  return made;
}

}  // namespace fusescope
