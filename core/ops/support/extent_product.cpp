#include "ops/support/extent_product.h"

#include <fmt/format.h>

#include "ir/extent_expression.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {

Result<Dim> missingExtent(const std::vector<Dim>& all, const std::vector<Dim>& rest) {
  ExtentExpression count = 1, used = 1;
  bool overflow = false;
  const auto multiply = [&](ExtentExpression& product, const std::vector<Dim>& dims) {
    for (const Dim& dim : dims) {
      const ExtentExpression factor = ExtentExpression::of(dim), before = product;
      product = product * factor;
      overflow = overflow || (before.number() && factor.number() && !product.valid());
    }
  };
  multiply(count, all);
  multiply(used, rest);
  if (overflow) return problem("the product of the extents is too large");
  const auto known = count.number(), knownUsed = used.number();
  if (knownUsed == 0)
    return known ? Result<Dim>(problem("an extent of -1 cannot be inferred if another extent is 0")) : Dim();
  if (known && knownUsed && *known % *knownUsed != 0)
    return problem(fmt::format("{} elements are not divisible by {}", *known, *knownUsed));
  return floorDivided(count, used).dim();
}

}  // namespace fusescope::ops
