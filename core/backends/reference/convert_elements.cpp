#include "backends/reference/convert_elements.h"

#include <cstring>

#include "base/float_bits.h"

namespace fusescope {
namespace {

template <class From, class To, class Function>
void mapElements(const std::byte* in, std::byte* out, std::int64_t count, Function function) {
  for (std::int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, in + i * static_cast<std::int64_t>(sizeof(From)), sizeof value);
    const To converted = function(value);
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(To)), &converted, sizeof converted);
  }
}

template <class From, class To>
void castElements(const std::byte* in, std::byte* out, std::int64_t count) {
  mapElements<From, To>(in, out, count, [](From value) { return static_cast<To>(value); });
}

bool convertCommonPair(DataType from, const std::byte* in, DataType to, std::byte* out, std::int64_t count) {
  using enum DataType;
  if (from == F32 && to == F16) return mapElements<float, std::uint16_t>(in, out, count, toFloat16Bits), true;
  if (from == F32 && to == BF16) return mapElements<float, std::uint16_t>(in, out, count, toBFloat16Bits), true;
  if (from == F16 && to == F32) return mapElements<std::uint16_t, float>(in, out, count, fromFloat16Bits), true;
  if (from == BF16 && to == F32) return mapElements<std::uint16_t, float>(in, out, count, fromBFloat16Bits), true;
  if (from == F32 && to == F64) return castElements<float, double>(in, out, count), true;
  if (from == F64 && to == F32) return castElements<double, float>(in, out, count), true;
  if (from == I64 && to == I32) return castElements<std::int64_t, std::int32_t>(in, out, count), true;
  if (from == I32 && to == I64) return castElements<std::int32_t, std::int64_t>(in, out, count), true;
  return false;
}

}  // namespace

void convertElements(DataType from, const std::byte* in, DataType to, std::byte* out, std::int64_t count) {
  if (count == 0) return;
  if (from == to) {
    std::memcpy(out, in, byteSize(from, count));
    return;
  }
  if (convertCommonPair(from, in, to, out, count)) return;
  const Tensor converted = Tensor::view(from, {count}, nullptr, in).converted(to);
  std::memcpy(out, converted.bytes(), converted.byteSize());
}

Tensor convertedTensor(const Tensor& tensor, DataType type) {
  const auto stays = [](DataType t) { return t == DataType::String || t == DataType::Undefined; };
  if (tensor.container() != Container::None || stays(tensor.type()) || stays(type) || tensor.type() == type)
    return tensor;
  Tensor result = Tensor::zeros(type, tensor.dims());
  convertElements(tensor.type(), tensor.bytes(), type, result.mutableBytes(), tensor.count());
  return result;
}

void roundElements(DataType type, float* values, std::int64_t count) {
  switch (type) {
    case DataType::F16:
      for (std::int64_t i = 0; i < count; ++i) values[i] = fromFloat16Bits(toFloat16Bits(values[i]));
      return;
    case DataType::BF16:
      for (std::int64_t i = 0; i < count; ++i) values[i] = fromBFloat16Bits(toBFloat16Bits(values[i]));
      return;
    default:
      if (!isFloat(type) || type == DataType::F64 || type == DataType::F32) return;
      for (std::int64_t i = 0; i < count; ++i) values[i] = roundedTo(type, values[i]);
      return;
  }
}

}  // namespace fusescope
