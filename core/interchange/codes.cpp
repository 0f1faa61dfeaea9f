#include "interchange/codes.h"

#include "base/packed_bits.h"

namespace fusescope {

bool isStoredAsCodes(DataType type) {
  return isPacked(type) || (isFloat(type) && bitWidth(type) == 8);
}

Tensor codesOf(const Tensor& tensor) {
  const int width = bitWidth(tensor.type());
  Tensor codes = Tensor::zeros(DataType::U8, tensor.dims());
  for (std::int64_t i = 0; i < tensor.count(); ++i)
    codes.mutableBytes()[i] = static_cast<std::byte>(readPacked(tensor.bytes(), i, width));
  return codes;
}

Tensor fromCodes(const Tensor& codes, DataType type) {
  if (!isStoredAsCodes(type) || !isByteInteger(codes.type()) || !codes.hasData()) return codes;
  const int width = bitWidth(type);
  Tensor tensor = Tensor::zeros(type, codes.dims());
  for (std::int64_t i = 0; i < codes.count(); ++i)
    writePacked(tensor.mutableBytes(), i, width, std::to_integer<unsigned>(codes.bytes()[i]));
  return tensor;
}

}  // namespace fusescope
