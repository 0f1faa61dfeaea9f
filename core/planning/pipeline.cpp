#include <algorithm>
#include <map>

#include "planning/plan_json.h"
#include "planning/structure.h"
#include "planning/type_answers.h"

namespace fusescope {

namespace {

void append(std::vector<Decision>& all, std::vector<Decision> added) {
  all.insert(all.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
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
  return key.hash();
}

void predictTimes(Plan& plan, const CostModel* costs) {
  if (costs == nullptr) return;
  double sum = 0;
  bool all = !plan.fusedNodes.empty();
  const std::vector<std::optional<double>> times = costs->milliseconds(plan);
  for (FusedNode& node : plan.fusedNodes) {
    node.predictedMs = times[node.id.index];
    all = all && node.predictedMs.has_value();
    sum += node.predictedMs.value_or(0);
  }
  if (all) plan.predictedMs = sum;
}

}  // namespace

// 1. What to plan for, and what the user wants of which node.
// 2. What the plan is before types: truncation, verdicts, segments, and what could run as one kernel.
// 3. What each node calculates in, what each edge is stored at, and which regions come apart for it.
// 4. The fused nodes with their contracts, and conversions where what stands in memory is not what is read.
Result<Layout> layOut(std::shared_ptr<const Model> model, const PlanOptions& options,
                      const std::vector<DataType>& priced, std::shared_ptr<const Structure> previous,
                      const StopToken& stop) {
  Layout layout;
  Plan& plan = layout.plan;
  plan.model = model;
  plan.options = options;
  plan.inputSpecs = model->inputSpecs;
  assignIds(plan.options.directives);

  plan.target = TRY(Target::fromName(options.target));
  layout.directives =
      std::make_shared<DirectiveMap>(TRY(resolveDirectives(*model, plan.target, plan.options.directives, stop)));

  plan.structure =
      TRY(makeStructure(*model, plan.target, *layout.directives, plan.options, std::move(previous), stop));
  const Structure& structure = *plan.structure;
  plan.segments = structure.partition.segments;
  plan.truncation = structure.truncation.plan;

  layout.solver = std::make_unique<TypeSolver>(*model, plan.target, structure, *layout.directives,
                                               std::make_shared<PlanOptions>(plan.options), priced);
  layout.regions = layout.solver->regions();
  TRY(checkStop(stop));

  plan.calculates = layout.solver->typing().calculates();
  for (const Region& region : layout.regions) {
    plan.fusedNodes.push_back(layout.solver->describer().describe(region));
    plan.fusedNodes.back().id = FusedNodeId(plan.fusedNodes.size() - 1);
    plan.fusedNodes.back().name = layout.solver->describer().nameOf(region);
  }
  plan.index();
  plan.precisionMap = typeGrants(plan, structure, *layout.solver);
  plan.casts = planCasts(plan);
  return layout;
}

namespace {

/// The recipe. `priced`: for each node the type that prices chose, or nothing.
Result<std::shared_ptr<const Plan>> planOnce(std::shared_ptr<const Model> model, const PlanOptions& options,
                                             const std::vector<DataType>& priced, const CostModel* costs,
                                             const StopToken& stop, std::shared_ptr<const Structure> previous) {
  // 1 to 4. What runs where, as which kernels, in which types.
  Layout layout = TRY(layOut(model, options, priced, std::move(previous), stop));
  Plan& plan = layout.plan;
  const DirectiveMap& directives = *layout.directives;

  // 5. Every decision, and every directive's answer.
  plan.decisions = model->decisions;
  append(plan.decisions, plan.structure->decisions);
  append(plan.decisions, directives.decisions);
  append(plan.decisions, plan.structure->fusion.refusals);
  append(plan.decisions, layout.solver->takeRefusals());
  append(plan.decisions, fusionAnswers(plan, layout.regions, directives));
  append(plan.decisions, answerTypes(plan, directives, *layout.solver));
  append(plan.decisions, indexWarnings(plan));
  TRY(checkStop(stop));

  // 6. Times, where they were measured before.
  predictTimes(plan, costs);
  plan.hash = planHash(plan);
  return std::make_shared<const Plan>(std::move(plan));
}

/// Measured times decide between several types: for each node the type in which its fused node, in a plan of that type
/// alone, is fastest. Nothing is decided where fewer than two types' times of the same fused node are known.
Result<std::vector<DataType>> fastestTypes(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                           const CostModel* costs, const StopToken& stop) {
  std::vector<DataType> fastest;
  if (costs == nullptr || options.precisions.size() < 2) return fastest;
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
    const auto plan = TRY(planOnce(model, alone, {}, costs, stop, nullptr));
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

/// The times that a plan's JSON holds, by the name of the fused node.
class RecordedCosts final : public CostModel {
 public:
  explicit RecordedCosts(const Json& plan) {
    for (const Json& fused : plan.at("fused_nodes"))
      if (const Json& ms = fused.at("predicted_ms"); !ms.is_null())
        m_times[fused.at("name").get<std::string>()] = ms.get<double>();
  }
  std::vector<std::optional<double>> milliseconds(const Plan& plan) const override {
    std::vector<std::optional<double>> times;
    for (const FusedNode& node : plan.fusedNodes) {
      const auto found = m_times.find(node.name);
      times.push_back(found == m_times.end() ? std::nullopt : std::optional(found->second));
    }
    return times;
  }

 private:
  std::map<std::string, double> m_times;
};

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
                                             const CostModel* costs, const StopToken& stop, const Plan* previous) {
  std::shared_ptr<const Structure> structure;
  if (previous != nullptr && previous->model == model) structure = previous->structure;
  const std::vector<DataType> fastest = TRY(fastestTypes(model, options, costs, stop));
  return planOnce(model, options, fastest, costs, stop, std::move(structure));
}

Result<std::shared_ptr<const Plan>> remakePlan(std::shared_ptr<const Model> model, const Json& recorded) try {
  const PlanOptions options = TRY(planOptionsFromJson(recorded.at("options")));
  const RecordedCosts costs(recorded);
  return planOnce(model, options, recordedTypes(*model->graph, recorded), &costs, {}, nullptr);
} catch (const Json::exception& error) {
  return Diagnostic{.message = std::string("this plan lacks a field or holds one of another kind: ") + error.what(),
                    .help = "See planning/FORMAT.md."};
}

}  // namespace fusescope
