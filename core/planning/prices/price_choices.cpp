#include "planning/prices/price_choices.h"

namespace fusescope {

std::vector<char> PriceChoices::isSeparate(std::size_t limit) const {
  if (separate.empty()) return {};
  std::vector<char> is(limit, 0);
  for (const SeparateProducts& parallel : separate)
    for (const NodeId product : parallel.products) is[product.index] = 1;
  return is;
}

}  // namespace fusescope
