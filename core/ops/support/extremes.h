#pragma once

namespace fusescope::ops {

// The largest and the smallest of numbers, of which one that is not a number is both, as IEEE 754 defines `maximum` and
// `minimum`. What std::max() gives then depends on the order of its operands.

/// Whether `value` takes the place of `best`, the largest so far.
template <class T>
bool isAbove(const T& value, const T& best) {
  return best == best && !(value <= best);
}
/// Whether `value` takes the place of `best`, the smallest so far.
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
