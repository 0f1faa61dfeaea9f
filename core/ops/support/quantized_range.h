#pragma once

#include <algorithm>
#include <cmath>

#include "base/data_type.h"

namespace fusescope::ops {

/// The smallest and largest number of an integer type of at most 32 bits, for saturation.
struct QuantizedRange {
  double least = 0, most = 0;
  /// Clamps `value`; NaN becomes the smallest number.
  double clamped(double value) const { return std::isnan(value) ? least : std::clamp(value, least, most); }
};

inline QuantizedRange limitsOf(DataType type) {
  const double codes = std::ldexp(1.0, bitWidth(type));
  const bool isUnsigned = type == DataType::U32 || type == DataType::U16 || type == DataType::U8 ||
                          type == DataType::U4 || type == DataType::U2;
  return isUnsigned ? QuantizedRange{0, codes - 1} : QuantizedRange{-codes / 2, codes / 2 - 1};
}

}  // namespace fusescope::ops
