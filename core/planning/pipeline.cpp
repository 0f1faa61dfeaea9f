#include <algorithm>
#include <map>

#include "planning/plan_json.h"
#include "planning/predict_times.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

void append(std::vector<Decision>& all, std::vector<Decision> added) {
  all.insert(all.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

std::vector<char> acceleratedNodes(const Graph& graph, const Partitioning& partition) {
  std::vector<char> accelerated(graph.nodeIdLimit(), 0);
  for (const Segment& segment : partition.segments) {
    if (segment.kind != SegmentKind::Accelerated) continue;
    for (NodeId id : segment.nodes) accelerated[id.index] = 1;
  }
  return accelerated;
}

/// Times that chose a type show in the compute types of the fused nodes.
Hash128 planHash(const Plan& plan) {
  KeyBuilder key;
  key.text(plan.model->contentHash.hex());
  key.text(plan.target.canonical());
  key.text(toJson(plan.options).dump());
  for (const FusedNode& node : plan.fusedNodes) key.text(name(node.compute));
  for (const FusedNode& node : plan.fusedNodes)
    if (node.predictedMs) key.text(node.name).text(Json(*node.predictedMs).dump());
  for (const PlannedCast& cast : plan.casts)
    if (cast.predictedMs) key.number(cast.value.index).text(name(cast.to)).text(Json(*cast.predictedMs).dump());
  return key.hash();
}

/// The recipe. `measured`: for each node the type that measurements show to be fastest, or nothing.
Result<std::shared_ptr<const Plan>> planOnce(std::shared_ptr<const Model> model, const PlanOptions& options,
                                             const std::vector<DataType>& measured, const PriceModel* prices,
                                             const StopToken& stop) {
  Plan plan;
  plan.model = model;
  plan.options = options;
  plan.inputSpecs = model->inputSpecs;
  plan.decisions = model->decisions;
  const Graph& graph = *model->graph;

  // 1. What to plan for, and what the user wants of which node.
  plan.target = TRY(Target::fromName(options.target));
  const Target& target = plan.target;
  assignIds(plan.options.directives);
  DirectiveMap directives = TRY(resolveDirectives(*model, target, plan.options.directives));
  append(plan.decisions, directives.decisions);

  // 2. Types that the target lacks, as if every node ran accelerated.
  Truncation truncation = planTruncation(graph, target, directives.truncate);
  TRY(checkStop(stop));

  // 3. One verdict per node, on the types after truncation.
  const std::vector<Decision> verdicts = validateNodes(graph, target, directives, truncation);
  const auto firstVerdict = static_cast<std::uint32_t>(plan.decisions.size());
  append(plan.decisions, verdicts);
  TRY(checkStop(stop));

  // 4. Segments.
  Partitioning partition = partitionGraph(graph, target, verdicts, firstVerdict, directives, plan.options);
  append(plan.decisions, partition.decisions);
  TRY(checkStop(stop));

  // 5. Truncation holds inside accelerated segments only, now that they are known.
  settleTruncation(graph, target, acceleratedNodes(graph, partition), directives, plan.options, truncation);
  append(plan.decisions, truncation.decisions);

  // 6. What each node computes in. Before fusion: nodes of different types do not fuse.
  PrecisionMap precision = assignPrecision(graph, target, partition, truncation, directives, plan.options, measured);
  append(plan.decisions, precision.decisions);
  TRY(checkStop(stop));

  // 7. Which nodes run as one kernel.
  Fusion fusion = fuseNodes(graph, partition, precision, directives, plan.options);
  append(plan.decisions, fusion.decisions);
  TRY(checkStop(stop));

  // 8. The plan's own account of all that.
  plan.fusedNodes = describeFusedNodes(*model, partition, truncation, precision, fusion);
  plan.segments = std::move(partition.segments);
  plan.precisionMap = std::move(precision.grants);
  plan.truncation = std::move(truncation.plan);
  plan.index();

  // 9. Conversions where what stands in memory is not what is read.
  plan.casts = planCasts(plan);

  // 10. Prices, where there are any.
  predictTimes(plan, prices);
  plan.hash = planHash(plan);
  return std::make_shared<const Plan>(std::move(plan));
}

/// Measured times decide between several types: for each node the type in which its fused node, in a plan of that type
/// alone, is fastest. Nothing is decided where fewer than two types' times of the same fused node are known.
Result<std::vector<DataType>> fastestTypes(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                           const PriceModel* prices, const StopToken& stop) {
  std::vector<DataType> fastest;
  if (prices == nullptr || options.precisions.size() < 2) return fastest;
  struct Best {
    double ms = 0;
    DataType type = DataType::F32;
    int known = 0;
  };
  std::map<std::vector<NodeId>, Best> best;
  fastest.assign(model->graph->nodeIdLimit(), DataType::Undefined);
  std::vector<DataType> types{DataType::F32};
  types.insert(types.end(), options.precisions.begin(), options.precisions.end());
  for (DataType type : types) {
    PlanOptions alone = options;
    alone.precisions = {type};
    const auto plan = TRY(planOnce(model, alone, {}, prices, stop));
    for (const FusedNode& node : plan->fusedNodes) {
      if (!node.predictedMs) continue;
      Best& entry = best[node.nodes];
      if (entry.known++ > 0 && *node.predictedMs >= entry.ms) continue;
      entry.ms = *node.predictedMs;
      entry.type = type;
    }
  }
  for (const auto& [nodes, entry] : best)
    for (NodeId id : nodes)
      if (entry.known > 1) fastest[id.index] = entry.type;
  return fastest;
}

/// The plan, and what its pins cost.
Result<std::shared_ptr<const Plan>> planWith(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                             const std::vector<DataType>& fastest, const PriceModel* prices,
                                             const StopToken& stop) {
  std::shared_ptr<const Plan> plan = TRY(planOnce(model, options, fastest, prices, stop));
  if (!anyPinGranted(*plan)) return plan;
  // What the pins cost: the same plan without them, whose times nobody asks for.
  PlanOptions unpinned = plan->options;
  std::erase_if(unpinned.directives, [](const Directive& directive) {
    return directive.kind == DirectiveKind::Pin || directive.kind == DirectiveKind::PinOutput;
  });
  const std::shared_ptr<const Plan> baseline = TRY(planOnce(model, unpinned, fastest, nullptr, stop));
  Plan explained = *plan;
  append(explained.decisions, pinCosts(*plan, *baseline));
  return std::make_shared<const Plan>(std::move(explained));
}

/// By node, the types that the precision map of a plan's JSON says to be chosen by measurement.
std::vector<DataType> recordedTypes(const Graph& graph, const Json& plan) {
  std::vector<DataType> types(graph.nodeIdLimit(), DataType::Undefined);
  for (const Json& grant : plan.at("precision_map")) {
    if (grant.at("code") != "precision.measured") continue;
    const auto node = graph.findNode(grant.at("node").get<std::string>());
    const auto type = dataTypeFromName(grant.at("granted").get<std::string>());
    if (node && type) types[node->index] = *type;
  }
  return types;
}

}  // namespace

Result<std::shared_ptr<const Plan>> makePlan(std::shared_ptr<const Model> model, const PlanOptions& options,
                                             const PriceModel* prices, const StopToken& stop) {
  const std::vector<DataType> fastest = TRY(fastestTypes(model, options, prices, stop));
  return planWith(model, options, fastest, prices, stop);
}

Result<std::shared_ptr<const Plan>> remakePlan(std::shared_ptr<const Model> model, const Json& recorded) try {
  const PlanOptions options = TRY(planOptionsFromJson(recorded.at("options")));
  const auto prices = recordedPrices(*model, recorded);
  return planWith(model, options, recordedTypes(*model->graph, recorded), prices.get(), {});
} catch (const Json::exception& error) {
  return Diagnostic{.message = std::string("this plan lacks a field or holds one of another kind: ") + error.what(),
                    .help = "See planning/FORMAT.md."};
}

}  // namespace fusescope
