#pragma once

namespace fusescope::ops {

// The maximum and minimum of IEEE 754: if one operand is NaN, the result is NaN. std::max() and std::min() would depend
// on the order of the operands.

/// Returns whether `value` replaces `best`, the largest value so far.
template <class T>
bool isAbove(const T& value, const T& best) {
  return best == best && !(value <= best);
}
/// Returns whether `value` replaces `best`, the smallest value so far.
template <class T>
bool isBelow(const T& value, const T& best) {
  return best == best && !(value >= best);
}

template <class T>
T largerOf(const T& a, const T& b) {
  return isAbove(b, a) ? b : a;
}
template <class T>
T smallerOf(const T& a, const T& b) {
  return isBelow(b, a) ? b : a;
}

}  // namespace fusescope::ops
