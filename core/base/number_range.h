#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "base/data_type.h"

namespace fusescope {

/// What a type of numbers can hold.
struct NumberRange {
  double least = 0, most = 0;  ///< the finite ones; of unsigned integers `least` is 0
};
/// Nothing for truth values, text and complex numbers.
std::optional<NumberRange> rangeOf(DataType type);

/// Units in the last place of a type: the distance from a number of it to the next that is larger in magnitude; 1 for
/// integers. As a value, for loops over many elements.
class UnitsInLastPlace {
 public:
  explicit UnitsInLastPlace(DataType type);
  /// `difference` in units at `value`, which must be finite.
  double of(double difference, double value) const {
    constexpr int kBias = 1023, kFraction = 52;
    const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kFraction & 0x7ff) - kBias;
    const int scale = m_fraction - (exponent > m_leastExponent ? exponent : m_leastExponent);
    return difference * std::bit_cast<double>(static_cast<std::uint64_t>(scale + kBias) << kFraction) * m_rest;
  }

 private:
  // An exponent of a double cannot say all scales of float64: m_rest has what is left.
  int m_fraction = 0, m_leastExponent = 0;
  double m_rest = 1;
};

}  // namespace fusescope
