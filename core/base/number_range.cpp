#include "base/number_range.h"

#include <algorithm>
#include <cmath>

namespace fusescope {
namespace {

struct FloatShape {
  DataType type;
  int fraction;       ///< bits behind the point
  int leastExponent;  ///< of a normal number
  double most;
};
constexpr FloatShape kFloats[] = {
    {DataType::F64, 52, -1022, 0x1.fffffffffffffp1023},
    {DataType::F32, 23, -126, 0x1.fffffep127},
    {DataType::F16, 10, -14, 65504},
    {DataType::BF16, 7, -126, 0x1.fep127},
    {DataType::F8E4M3, 3, -6, 448},
    {DataType::F8E5M2, 2, -14, 57344},
    {DataType::F8E4M3FNUZ, 3, -7, 240},
    {DataType::F8E5M2FNUZ, 2, -15, 57344},
    {DataType::F8E8M0, 0, -127, 0x1p127},
    {DataType::F6E2M3, 3, 0, 7.5},
    {DataType::F6E3M2, 2, -2, 28},
    {DataType::F4E2M1, 1, 0, 6},
};

const FloatShape* shapeOf(DataType type) {
  const auto* found = std::ranges::find(kFloats, type, &FloatShape::type);
  return found == std::end(kFloats) ? nullptr : found;
}

bool isUnsigned(DataType type) {
  return type == DataType::U64 || type == DataType::U32 || type == DataType::U16 || type == DataType::U8 ||
         type == DataType::U4 || type == DataType::U2;
}

}  // namespace

std::optional<NumberRange> rangeOf(DataType type) {
  if (const FloatShape* shape = shapeOf(type)) return NumberRange{-shape->most, shape->most};
  if (!isInteger(type)) return std::nullopt;
  const int bits = bitWidth(type);
  if (isUnsigned(type)) return NumberRange{0, std::ldexp(1.0, bits) - 1};
  return NumberRange{-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}

UnitsInLastPlace::UnitsInLastPlace(DataType type) {
  const FloatShape* shape = shapeOf(type);
  if (shape == nullptr) {
    m_leastExponent = 1023;  // no number has a larger exponent, so that the unit is the same everywhere
    m_fraction = m_leastExponent;
    return;
  }
  const int held = shape->type == DataType::F64 ? 1 : shape->fraction;
  m_fraction = held;
  m_leastExponent = shape->leastExponent;
  m_rest = std::ldexp(1.0, shape->fraction - held);
}

}  // namespace fusescope
