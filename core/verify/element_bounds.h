#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/number_range.h"
#include "ir/tensor.h"

namespace fusescope {

/// The relative error that a sum in float32 may have: for sums, relative to the rms of all sums of its tensor; for a
/// quotient by a sum, relative to itself.
inline constexpr double kOfSum = 1e-5;

/// Returns the root mean square of the finite elements; 0 if there are none.
double rmsOf(const Tensor& tensor);

/// How far each element of an output of a region may be from the expected value. The initial bound is the sum of 2
/// units in the last place of the stored type, kOfSum times the rms, and kOfSum times the element; elements that are
/// not floats must be equal. include() widens the bounds, element by element, by the results of other runs of the
/// region that round as a kernel may.
class ElementBounds {
 public:
  explicit ElementBounds(const Tensor& expected);
  /// `disturbed` must have the type and extents of the expected tensor.
  void include(const Tensor& disturbed);
  bool holds(std::int64_t i, double actual) const;
  /// Returns what holds() would have returned before any call of include().
  bool heldAtFirst(std::int64_t i, double actual) const;
  double expected(std::int64_t i) const { return m_expected.asDouble(i); }
  /// Returns |Δ| divided by the rms, if both are finite.
  double overRms(std::int64_t i, double actual) const;

 private:
  struct Span {
    double least, most;
    bool canBeNaN;
  };
  Span spanOf(std::int64_t i) const;
  double clamped(double value) const;
  bool isNear(double actual, double nearest) const;

  Tensor m_expected;
  bool m_isFloat;
  UnitsInLastPlace m_units;
  std::optional<NumberRange> m_range;
  double m_rms = 0;
  std::vector<Span> m_spans;  ///< one per element; empty if include() was not called
};

}  // namespace fusescope
