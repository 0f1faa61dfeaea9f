#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "planning/read_back_steps.h"

namespace fusescope {
namespace {

std::optional<double> share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole));
}

bool shareKernel(const ReadBackPlan& made, NodeId a, NodeId b) {
  std::vector<FusedNodeId> shared;
  std::ranges::set_intersection(made.kernelsOf(a), made.kernelsOf(b), std::back_inserter(shared));
  return !shared.empty();
}

/// Whether the node is in a region that is reported as a whole, by a kernel with the region's name, so that the kernels
/// inside it are unknown.
bool isInWholeRegion(const ReadBackPlan& made, NodeId node) {
  return std::ranges::any_of(made.kernelsOf(node), [&](FusedNodeId kernel) {
    return made.kernels[kernel.index].region == made.fusedNodes[kernel.index].name;
  });
}

}  // namespace

std::optional<double> Agreement::precision() const {
  return share(both, predicted);
}

std::optional<double> Agreement::recall() const {
  return share(both, made);
}

std::optional<double> Agreement::f1() const {
  return share(2 * both, predicted + made);
}

Agreement agreementOf(const ReadBackPlan& made) {
  const Graph& graph = made.graph();
  const Plan& asked = *made.asked;
  Agreement agreement;
  for (const NodeId consumer : graph.order()) {
    if (made.fateOf(consumer) != Fate::Kernel || isInWholeRegion(made, consumer)) continue;
    std::set<NodeId> producers;
    for (const ValueId value : operands(graph.node(consumer)))
      if (value.valid() && graph.value(value).producer.valid()) producers.insert(graph.value(value).producer);
    for (const NodeId producer : producers) {
      if (made.fateOf(producer) != Fate::Kernel || isInWholeRegion(made, producer)) continue;
      const bool predicted = asked.fusedNodeOf(producer) == asked.fusedNodeOf(consumer);
      const bool isMade = shareKernel(made, producer, consumer);
      ++agreement.edges;
      agreement.predicted += predicted ? 1 : 0;
      agreement.made += isMade ? 1 : 0;
      agreement.both += predicted && isMade ? 1 : 0;
    }
  }
  return agreement;
}

}  // namespace fusescope
