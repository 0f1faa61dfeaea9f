#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/number_range.h"
#include "ir/tensor.h"

namespace fusescope {

/// The root of the mean square of the elements that are finite; 0 if there are none.
double rmsOf(const Tensor& tensor);

/// How far each element of an output of a region may be from what is expected. At first: 2 units in the last place of
/// the stored type, kOfSum of the rms, and kOfSum of itself; what is no float is to be the same. include() widens that,
/// element by element, by what other runs of the region give that round as a kernel may.
class ElementBounds {
 public:
  explicit ElementBounds(const Tensor& expected);
  /// `disturbed` has the type and extents of what is expected.
  void include(const Tensor& disturbed);
  bool holds(std::int64_t i, double actual) const;
  /// holds() as it was before include() widened anything.
  bool heldAtFirst(std::int64_t i, double actual) const;
  double expected(std::int64_t i) const { return m_expected.asDouble(i); }
  /// |Δ| over rms, where both are finite.
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
  std::vector<Span> m_spans;  ///< of each element; empty: include() was not called
};

}  // namespace fusescope
