#include "ops/support/extent_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/support/diagnostics.h"

namespace fusescope::ops {

Result<Dim> missingExtent(std::vector<Dim> all, const std::vector<Dim>& rest) {
  std::int64_t known = 1, used = 1;
  for (const Dim& dim : rest) {
    const auto same = std::find(all.begin(), all.end(), dim);
    if (!dim.known() && (dim.symbol.empty() || same == all.end())) return Dim();
    if (!dim.known()) all.erase(same);
    if (dim.known() && __builtin_mul_overflow(used, dim.size, &used)) return problem("the extents are absurdly large");
  }
  std::vector<Dim> symbols;
  for (const Dim& dim : all) {
    if (!dim.known()) symbols.push_back(dim);
    if (dim.known() && __builtin_mul_overflow(known, dim.size, &known))
      return problem("the extents are absurdly large");
  }
  if (symbols.empty()) {
    if (used == 0) return problem("-1 cannot be worked out beside an extent of 0");
    if (known % used != 0) return problem(fmt::format("{} elements are not divisible by {}", known, used));
    return Dim(known / used);
  }
  return symbols.size() == 1 && known == used && used != 0 ? symbols[0] : Dim();
}

}  // namespace fusescope::ops
