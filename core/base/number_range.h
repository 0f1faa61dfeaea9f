#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "base/data_type.h"

namespace fusescope {

/// The numbers that a type can represent.
struct NumberRange {
  double least = 0, most = 0;  ///< finite numbers; `least` is 0 for unsigned integers
};
/// Returns the range of a type; nothing for Bool, String and complex types.
std::optional<NumberRange> rangeOf(DataType type);

/// Measures differences in units in the last place of a type. A unit is the distance from a number of the type to the
/// next one of larger magnitude; for integers it is 1. It is an object so that a loop over many elements looks the type
/// up only once.
class UnitsInLastPlace {
 public:
  explicit UnitsInLastPlace(DataType type);
  /// Converts `difference` to units at `value`, which must be finite.
  double of(double difference, double value) const {
    constexpr int kBias = 1023, kFraction = 52;
    const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kFraction & 0x7ff) - kBias;
    const int scale = m_fraction - (exponent > m_leastExponent ? exponent : m_leastExponent);
    return difference * std::bit_cast<double>(static_cast<std::uint64_t>(scale + kBias) << kFraction) * m_rest;
  }

 private:
  // The exponent of a double cannot express all scales of float64; m_rest is the remaining factor.
  int m_fraction = 0, m_leastExponent = 0;
  double m_rest = 1;
};

}  // namespace fusescope
