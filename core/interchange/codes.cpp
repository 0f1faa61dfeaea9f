#include "interchange/codes.h"

namespace fusescope {
namespace {

bool isByte(DataType type) {
  return type == DataType::U8 || type == DataType::I8;
}

}  // namespace

bool standsAsCodes(DataType type) {
  return isPacked(type) || (isFloat(type) && bitWidth(type) == 8);
}

// Packed elements are a stream of bits, lowest first: bit b of element i is bit i * width + b of the stream.
Tensor codesOf(const Tensor& tensor) {
  const int width = bitWidth(tensor.type());
  Tensor codes = Tensor::zeros(DataType::U8, tensor.dims());
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    for (int b = 0; b < width; ++b) {
      const std::int64_t bit = i * width + b;
      if ((tensor.bytes()[bit / 8] >> (bit % 8) & std::byte{1}) != std::byte{0})
        codes.mutableBytes()[i] |= std::byte{1} << b;
    }
  }
  return codes;
}

Tensor fromCodes(const Tensor& codes, DataType type) {
  if (!standsAsCodes(type) || !isByte(codes.type()) || !codes.hasData()) return codes;
  const int width = bitWidth(type);
  Tensor tensor = Tensor::zeros(type, codes.dims());
  for (std::int64_t i = 0; i < codes.count(); ++i) {
    for (int b = 0; b < width; ++b) {
      const std::int64_t bit = i * width + b;
      if ((codes.bytes()[i] >> b & std::byte{1}) != std::byte{0})
        tensor.mutableBytes()[bit / 8] |= std::byte{1} << (bit % 8);
    }
  }
  return tensor;
}

}  // namespace fusescope
