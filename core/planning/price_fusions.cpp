#include "planning/price_fusions.h"

#include <algorithm>

#include "base/sort_distinct.h"
#include "planning/fusion/rules.h"
#include "planning/price_model.h"

namespace fusescope {

namespace {

/// The sum of prices; nothing if one is unknown. The spread is the largest possible one, with all errors in one
/// direction.
struct Total {
  double ms = 0, off = 0;
  bool known = true;
  void add(const Price& price) {
    known = known && price.ms.has_value();
    ms += price.ms.value_or(0);
    off += price.ms.value_or(0) * price.spread;
  }
};

}  // namespace

Result<bool> fusionsByPrice(const Layout& together, const PlanOptions& options, const PriceModel& prices,
                            const StopToken& stop, PriceChoices& choices) {
  const std::shared_ptr<const Model>& model = together.plan.model;
  const Graph& graph = *model->graph;
  std::vector<std::vector<NodeId>> parallel(together.regions.size());
  PriceChoices separate = choices;
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    parallel[i] = parallelProducts(graph, together.regions[i]);
    if (!parallel[i].empty()) separate.apart.push_back({.products = parallel[i]});
  }
  if (separate.apart.empty()) return false;
  const Layout apart = TRY(layOut(model, options, separate, together.plan.structure, stop));
  const std::vector<Price> one = prices.kernels(together.plan), each = prices.kernels(apart.plan);
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    if (parallel[i].empty()) continue;
    Total whole, parts;
    whole.add(one[i]);
    std::vector<FusedNodeId> kernels;
    for (const NodeId node : together.regions[i].nodes) kernels.push_back(apart.plan.fusedNodeOf(node)->id);
    sortDistinct(kernels);
    for (const FusedNodeId kernel : kernels) parts.add(each[kernel.index]);
    if (!whole.known || !parts.known || parts.ms + parts.off + whole.off >= whole.ms) continue;
    choices.apart.push_back({parallel[i], whole.ms, parts.ms});
  }
  return !choices.apart.empty();
}

}  // namespace fusescope
