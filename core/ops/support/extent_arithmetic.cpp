#include "ops/support/extent_arithmetic.h"

namespace fusescope::ops {

using Function = ExtentExpression::Function;

namespace {

constexpr std::int64_t kEnd = INT32_MAX;  // exporters write this or a larger number for an open end

/// Returns where [start, end) begins or ends on an axis of extent `dim`.
ExtentExpression placeOn(const ExtentExpression& dim, const ExtentExpression& at) {
  if (!dim.valid() || !at.valid()) return ExtentExpression::invalid();
  const auto number = at.number();
  if (number == 0) return 0;
  if (number && *number >= kEnd) return dim;
  if (number && *number < 0) {
    const ExtentExpression place = dim + *number;
    return leastOf(place).value_or(-1) >= 0 ? place : applied(Function::Maximum, {place, 0});
  }
  if (!number && leastOf(at).value_or(-1) < 0) return ExtentExpression::invalid();
  if (leastOf(dim - at).value_or(-1) >= 0) return at;
  if (leastOf(at - dim).value_or(-1) >= 0) return dim;
  return applied(Function::Minimum, {at, dim});
}

}  // namespace

Dim sumOf(const Dim& a, const Dim& b) {
  return (ExtentExpression::of(a) + ExtentExpression::of(b)).dim();
}

Dim differenceOf(const Dim& a, const Dim& b) {
  return (ExtentExpression::of(a) - ExtentExpression::of(b)).dim();
}

Dim scaledExtent(const Dim& dim, std::int64_t times, std::int64_t plus) {
  return (ExtentExpression::of(dim) * times + plus).dim();
}

Dim dividedExtent(const Dim& dim, std::int64_t plus, std::int64_t by) {
  return floorDivided(ExtentExpression::of(dim) + plus, by).dim();
}

Dim broadcastExtent(const Dim& a, const Dim& b) {
  return applied(Function::Broadcast, {ExtentExpression::of(a), ExtentExpression::of(b)}).dim();
}

Dim sameExtent(const Dim& a, const Dim& b) {
  if (a == b || b == Dim() || a.known()) return a;
  if (a == Dim() || b.known()) return b;
  return applied(Function::Same, {ExtentExpression::of(a), ExtentExpression::of(b)}).dim();
}

Dim cutExtent(const Dim& dim, const ExtentExpression& start, const ExtentExpression& end) {
  const ExtentExpression extent = ExtentExpression::of(dim);
  const ExtentExpression count = placeOn(extent, end) - placeOn(extent, start);
  if (!count.valid()) return Dim();
  return leastOf(count).value_or(-1) >= 0 ? count.dim() : applied(Function::Maximum, {count, 0}).dim();
}

}  // namespace fusescope::ops
