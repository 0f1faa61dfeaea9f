#pragma once

#include <algorithm>
#include <cmath>

#include "base/data_type.h"

namespace fusescope::ops {

/// The least and the largest number of an integer type of 32 bits or less, for saturation.
struct QuantizedRange {
  double least = 0, most = 0;
  /// What is not a number becomes the least.
  double clamped(double value) const { return std::isnan(value) ? least : std::clamp(value, least, most); }
};

inline QuantizedRange limitsOf(DataType type) {
  const double codes = std::ldexp(1.0, bitWidth(type));
  const bool isUnsigned = type == DataType::U32 || type == DataType::U16 || type == DataType::U8 ||
                          type == DataType::U4 || type == DataType::U2;
  return isUnsigned ? QuantizedRange{0, codes - 1} : QuantizedRange{-codes / 2, codes / 2 - 1};
}

}  // namespace fusescope::ops
