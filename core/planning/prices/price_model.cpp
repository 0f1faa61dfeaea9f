#include "planning/prices/price_model.h"

#include "planning/plan.h"

namespace fusescope {

std::vector<Price> PriceModel::kernelsAt(const Plan& plan, const std::map<std::string, Dims>&) const {
  return std::vector<Price>(plan.fusedNodes.size());
}

}  // namespace fusescope
