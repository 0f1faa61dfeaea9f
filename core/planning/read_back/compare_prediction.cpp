#include "planning/read_back/compare_prediction.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/graph.h"
#include "planning/cover_json.h"
#include "planning/read_back/read_back_plan.h"
#include "planning/same_plan_options.h"

namespace fusescope {
namespace {

bool shareKernel(const ReadBackPlan& made, NodeId a, NodeId b) {
  std::vector<FusedNodeId> shared;
  std::ranges::set_intersection(made.kernelsOf(a), made.kernelsOf(b), std::back_inserter(shared));
  return !shared.empty();
}

/// Returns whether the node is in a region that is reported as a whole, by a kernel with the region's name, so that the
/// kernels inside it are unknown.
bool isInWholeRegion(const ReadBackPlan& made, NodeId node) {
  return std::ranges::any_of(made.kernelsOf(node), [&](FusedNodeId kernel) {
    return made.kernels[kernel.index].region == made.fusedNodes[kernel.index].name;
  });
}

/// Returns the values that a kernel writes to memory although other nodes of the same kernel read them.
std::set<ValueId> writtenInside(const Cover& cover) {
  std::set<ValueId> values;
  for (const FusedNode& fused : cover.fusedNodes)
    for (const InnerEdge& edge : fused.innerEdges)
      if (edge.real) values.insert(edge.value);
  return values;
}

/// Counts the edges of one network.
class EdgeCount {
 public:
  EdgeCount(const Plan& predicted, const ReadBackPlan& made)
      : m_predicted(predicted),
        m_made(made),
        m_predictedInside(writtenInside(predicted)),
        m_madeInside(writtenInside(made)) {}

  Agreement run() {
    const Graph& graph = m_made.graph();
    for (const NodeId consumer : graph.order()) {
      if (!counts(consumer)) continue;
      std::map<NodeId, std::vector<ValueId>> producers;
      for (const ValueId value : operands(graph.node(consumer)))
        if (value.valid() && graph.value(value).producer.valid())
          producers[graph.value(value).producer].push_back(value);
      for (const auto& [producer, values] : producers)
        if (counts(producer)) add(producer, consumer, values);
    }
    for (const auto& [types, edges] : m_others) m_agreement.otherTypes.push_back({types.first, types.second, edges});
    std::ranges::stable_sort(m_agreement.otherTypes, std::ranges::greater(), &OtherStoredType::edges);
    return std::move(m_agreement);
  }

 private:
  bool counts(NodeId node) const { return m_made.fateOf(node) == Fate::Kernel && !isInWholeRegion(m_made, node); }

  void add(NodeId producer, NodeId consumer, const std::vector<ValueId>& values) {
    const bool predicted = m_predicted.fusedNodeOf(producer) == m_predicted.fusedNodeOf(consumer);
    const bool isMade = shareKernel(m_made, producer, consumer);
    ++m_agreement.edges;
    m_agreement.predicted += predicted ? 1 : 0;
    m_agreement.made += isMade ? 1 : 0;
    m_agreement.both += predicted && isMade ? 1 : 0;
    std::vector<ValueId> stored;
    for (const ValueId value : values)
      if ((!predicted || m_predictedInside.contains(value)) && (!isMade || m_madeInside.contains(value)))
        stored.push_back(value);
    if (!stored.empty()) addTypes(stored);
  }

  /// Counts an edge that both keep in memory. An edge of several values has one type if each of them has.
  void addTypes(const std::vector<ValueId>& values) {
    const auto isUndisclosed = [&](ValueId value) {
      return m_made.storedType(value) == DataType::Undefined || m_predicted.storedType(value) == DataType::Undefined;
    };
    if (std::ranges::any_of(values, isUndisclosed)) {
      ++m_agreement.storedNotDisclosed;
      return;
    }
    ++m_agreement.stored;
    const auto other = std::ranges::find_if(
        values, [&](ValueId value) { return m_made.storedType(value) != m_predicted.storedType(value); });
    if (other == values.end())
      ++m_agreement.storedAlike;
    else
      ++m_others[{m_predicted.storedType(*other), m_made.storedType(*other)}];
  }

  const Plan& m_predicted;
  const ReadBackPlan& m_made;
  std::set<ValueId> m_predictedInside, m_madeInside;
  std::map<std::pair<DataType, DataType>, std::int64_t> m_others;
  Agreement m_agreement;
};

/// Returns whether both are asked for with the same types and directives, whichever compiler or target is asked.
bool asksForTheSame(const Plan& plan, const ReadBackPlan& made) {
  PlanOptions options = made.options;
  options.compiler = plan.options.compiler;
  options.compilerOptions = plan.options.compilerOptions;
  options.target = plan.options.target;
  options.workspaceBytes = plan.options.workspaceBytes;
  options.support = plan.options.support;
  return askForSamePlan(options, plan.options);
}

}  // namespace

bool isPredictionOf(const Plan& plan, const ReadBackPlan& made) {
  if (plan.model->contentHash != made.model->contentHash || plan.graph().order() != made.graph().order()) return false;
  // It is not known with which types and directives an engine was built that was read from files.
  if (!made.placement && !asksForTheSame(plan, made)) return false;
  if (plan.options.compiler == made.compiler.name) return true;
  return plan.target.planningOnly && plan.target.name == made.target.name;
}

Agreement agreementOf(const Plan& predicted, const ReadBackPlan& made) {
  return EdgeCount(predicted, made).run();
}

Json toJson(const Agreement& agreement) {
  if (agreement.edges == 0) return nullptr;
  return {
      {"edges", agreement.edges},
      {"predicted", agreement.predicted},
      {"made", agreement.made},
      {"both", agreement.both},
      {"precision", jsonOrNull(agreement.precision())},
      {"recall", jsonOrNull(agreement.recall())},
      {"f1", jsonOrNull(agreement.f1())},
      {"stored_types",
       {{"edges", agreement.stored},
        {"alike", agreement.storedAlike},
        {"share", jsonOrNull(agreement.typesShare())},
        {"not_disclosed", agreement.storedNotDisclosed},
        {"other", jsonList(agreement.otherTypes, [](const OtherStoredType& other) {
           return Json{{"predicted", toText(other.predicted)}, {"made", toText(other.made)}, {"edges", other.edges}};
         })}}}};
}

}  // namespace fusescope
