#include "frontends/onnx/file_tensors.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace fusescope {

namespace {

/// Of an element in memory; a complex number is a pair.
std::size_t alignmentOf(DataType type) {
  const std::size_t bytes = byteSize(type, 2) / 2;
  const bool isPair = type == DataType::C64 || type == DataType::C128;
  return std::max<std::size_t>(isPair ? bytes / 2 : bytes, 1);
}

}  // namespace

Tensor toTensor(const onnxlib::FileTensor& tensor) {
  if (!tensor.hasData) return Tensor::withoutData(tensor.dtype, tensor.dims);
  if (tensor.dtype == DataType::String) return Tensor::ofStrings(tensor.dims, tensor.strings);
  if (tensor.data == nullptr) return Tensor::zeros(tensor.dtype, tensor.dims);
  // A file may hold a weight at any address; what reads elements in place needs a multiple of their size.
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % alignmentOf(tensor.dtype) == 0)
    return Tensor::view(tensor.dtype, tensor.dims, tensor.owner, tensor.data);
  Tensor copy = Tensor::zeros(tensor.dtype, tensor.dims);
  std::memcpy(copy.mutableBytes(), tensor.data, copy.byteSize());
  return copy;
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

}  // namespace fusescope
