#include "frontends/onnx/file_tensors.h"

#include <cstring>
#include <memory>

#include "ir/extent_expression.h"

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

TensorType toType(const onnxlib::FileType& type) {
  TensorType result{.dtype = type.dtype, .shape = {}, .container = type.container};
  result.shape.ranked = type.ranked;
  for (const onnxlib::FileDim& dim : type.dims)
    result.shape.dims.push_back(dim.size >= 0 ? Dim(dim.size) : Dim::named(normalExtentText(dim.symbol)));
  return result;
}

bool sameTensor(const onnxlib::FileTensor& a, const onnxlib::FileTensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims || a.hasData != b.hasData || a.strings != b.strings) return false;
  if (a.data == b.data) return true;
  if (a.data == nullptr || b.data == nullptr) return false;
  return std::memcmp(a.data, b.data, byteSize(a.dtype, elementCount(a.dims).value_or(0))) == 0;
}

}  // namespace fusescope
