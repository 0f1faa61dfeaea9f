#include "planning/prices/price_choices.h"

namespace fusescope {

std::vector<char> PriceChoices::isApart(std::size_t limit) const {
  if (apart.empty()) return {};
  std::vector<char> is(limit, 0);
  for (const SeparateProducts& parallel : apart)
    for (const NodeId product : parallel.products) is[product.index] = 1;
  return is;
}

}  // namespace fusescope
