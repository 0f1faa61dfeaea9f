#include <algorithm>

#include "base/json.h"
#include "base/sort_distinct.h"
#include "planning/directive_effects.h"
#include "planning/draft_plan.h"
#include "planning/fusion/rules.h"
#include "planning/kernel_bindings.h"
#include "planning/plan_bodies.h"
#include "planning/plan_options_json.h"
#include "planning/prices/predict_times.h"
#include "planning/prices/price_choices.h"
#include "planning/prices/price_choices_json.h"
#include "planning/prices/price_model.h"
#include "planning/quantized_model.h"
#include "planning/read_back/predicted_compiler.h"
#include "planning/structure.h"
#include "planning/types/price_integers.h"
#include "planning/types/price_types.h"
#include "planning/types/type_answers.h"

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

/// Adds to `choices` the products of one input that take less time as separate kernels than as one kernel; the
/// difference must exceed the spread of both prices. Products stay together if one of the two prices is unknown,
/// because then their input is read only once. `together` is the layout with `choices`, in which they are together.
/// Returns whether any products were separated.
Result<bool> fusionsByPrice(const Layout& together, const PlanOptions& options, const PriceModel& prices,
                            const StopToken& stop, PriceChoices& choices) {
  const std::shared_ptr<const Model>& model = together.plan.model;
  const Graph& graph = *model->graph;
  std::vector<std::vector<NodeId>> parallel(together.regions.size());
  PriceChoices dividing = choices;
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    parallel[i] = parallelProducts(graph, together.regions[i]);
    if (!parallel[i].empty()) dividing.separate.push_back({.products = parallel[i]});
  }
  if (dividing.separate.empty()) return false;
  const Layout divided = TRY(layOut(model, options, dividing, together.plan.structure, stop));
  const std::vector<Price> one = prices.kernels(together.plan), each = prices.kernels(divided.plan);
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    if (parallel[i].empty()) continue;
    Total whole, parts;
    whole.add(one[i]);
    std::vector<FusedNodeId> kernels;
    for (const NodeId node : together.regions[i].nodes) kernels.push_back(divided.plan.fusedNodeOf(node)->id);
    sortDistinct(kernels);
    for (const FusedNodeId kernel : kernels) parts.add(each[kernel.index]);
    if (!whole.known || !parts.known || parts.ms + parts.off + whole.off >= whole.ms) continue;
    choices.separate.push_back({parallel[i], whole.ms, parts.ms});
  }
  return !choices.separate.empty();
}

/// Hashes a plan. Types that prices chose are included, as the compute types of the fused nodes.
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
  for (const CoverBody& body : plan.bodies) key.text(plannedBody(body).hash.hex());
  return key.hash();
}

}  // namespace

// The steps of layOut() are:
// 0. (integersByPrice(), quantizedModel()) If int8 or quantised weights are asked for, edges get quantised codes. The
//    result is the network that is planned.
// 1. The target is read, and it is determined which directive applies to which node.
// 2. The structure is made, which does not depend on types: truncation, verdicts, segments, and regions.
// 3. The type in which each node calculates and the stored type of each edge are determined, and regions that cannot
//    run as one kernel with these types are split.
// 4. Fused nodes with their contracts and the bindings of their kernels are made, and conversions where a kernel reads
//    another type than is in memory.
Result<Layout> layOut(std::shared_ptr<const Model> model, const PlanOptions& options, const PriceChoices& priced,
                      std::shared_ptr<const Structure> previous, const StopToken& stop) {
  Layout layout;
  Plan& plan = layout.plan;
  plan.model = model;
  plan.options = options;
  plan.priced = priced;
  plan.inputSpecs = model->inputSpecs;
  assignIds(plan.options.directives);

  plan.target = TRY(Target::fromName(options.target));
  auto directives =
      std::make_shared<DirectiveMap>(TRY(resolveDirectives(*model, plan.target, plan.options.directives, stop)));
  dropWithoutEffect(plan, *directives);
  layout.directives = std::move(directives);

  plan.structure = TRY(makeStructure(*model, plan.target, *layout.directives, plan.options, std::move(previous), stop));
  const Structure& structure = *plan.structure;
  plan.segments = structure.partition.segments;
  plan.truncation = structure.truncation.plan;

  layout.solver = std::make_unique<TypeSolver>(*model, plan.target, structure, *layout.directives,
                                               std::make_shared<PlanOptions>(plan.options), priced);
  layout.regions = layout.solver->regions();
  plan.typeConflicts = structure.fusion.conflicts;
  const auto& ofTypes = layout.solver->conflicts();
  plan.typeConflicts.insert(plan.typeConflicts.end(), ofTypes.begin(), ofTypes.end());
  TRY(checkStop(stop));

  plan.calculates = layout.solver->typing().calculates();
  for (const Region& region : layout.regions) {
    plan.fusedNodes.push_back(layout.solver->describer().describe(region));
    plan.fusedNodes.back().id = FusedNodeId(plan.fusedNodes.size() - 1);
    plan.fusedNodes.back().name = layout.solver->describer().nameOf(region);
    plan.fusedNodes.back().kernel = bindKernel(plan.graph(), plan.fusedNodes.back());
  }
  plan.index();
  plan.precisionMap = typeGrants(plan, structure, *layout.solver);
  plan.casts = planCasts(plan);
  return layout;
}

namespace {

void addCopies(std::vector<Decision>& all, const std::vector<Decision>& added) {
  all.insert(all.end(), added.begin(), added.end());
}

void explain(Plan& plan, Explanations explanations) {
  const auto before = static_cast<std::uint32_t>(plan.decisions.size());
  for (DirectiveAnswer& answer : explanations.answers) {
    answer.decision += before;
    plan.answers.push_back(std::move(answer));
  }
  append(plan.decisions, std::move(explanations.decisions));
}

/// Adds why our rules do not fuse nodes. About what another compiler makes or made, each decision says that it is a
/// prediction, except that nodes in different segments are certainly in different kernels.
void addRefusals(Plan& plan, const std::vector<Decision>& refusals) {
  const std::string compiler = predictedCompiler(plan);
  for (const Decision& refusal : refusals) {
    if (compiler.empty() || refusal.code == "fuse.other_segment") {
      plan.decisions.push_back(refusal);
      continue;
    }
    Decision predicted = decide("fuse.predicted_apart", refusal.subjects, refusal.by,
                                {{"compiler", compiler}, {"inner_code", refusal.code}, {"reason", message(refusal)}});
    predicted.evidence = refusal.evidence;
    plan.decisions.push_back(std::move(predicted));
  }
}

/// Returns the decisions about choices by price that are not about a single node.
std::vector<Decision> priceAnswers(const Plan& plan) {
  std::vector<Decision> decisions;
  if (plan.priced.typesWeighed > 0)
    decisions.push_back(decide("precision.search_bounded", {}, "price_model", {{"types", plan.priced.typesWeighed}}));
  for (const SeparateProducts& parallel : plan.priced.separate) {
    std::vector<Subject> subjects;
    for (const NodeId product : parallel.products) subjects.push_back(Subject::node(plan.graph().node(product).name));
    decisions.push_back(decide("fuse.parallel_slower", std::move(subjects), "price_model",
                               {{"products", parallel.products.size()},
                                {"together_ms", parallel.togetherMs},
                                {"apart_ms", parallel.apartMs}}));
  }
  return decisions;
}

/// Returns a decision for each float type that --precision asks for and in which the target does not calculate.
std::vector<Decision> typesNotOffered(const Plan& plan) {
  std::vector<Decision> decisions;
  for (const DataType type : floatPrecisions(plan.options))
    if (!plan.target.computeTypes.contains(type))
      decisions.push_back(decide("precision.type_not_offered", {}, plan.target.name,
                                 {{"type", toText(type)}, {"target", plan.target.name}}));
  return decisions;
}

/// Adds every decision, and the answer to every directive.
Status giveAnswers(Layout& layout, Explanations ofBodies, const StopToken& stop) {
  Plan& plan = layout.plan;
  const Model& model = *plan.model;
  const DirectiveMap& directives = *layout.directives;
  plan.decisions.reserve(model.decisions.size() + plan.structure->decisions.size() + 2 * model.graph->nodeCount());
  plan.decisions = model.decisions;
  addCopies(plan.decisions, plan.structure->decisions);
  explain(plan, directives.explanations);
  explain(plan, std::move(ofBodies));
  addRefusals(plan, plan.structure->fusion.refusals);
  addRefusals(plan, layout.solver->takeRefusals());
  append(plan.decisions, fusionAnswers(plan, layout.regions, directives));
  const auto keptFromCodes = TRY(keptInFloats(*unquantized(plan.model), plan.options, stop));
  TypeAnswers ofTypes = answerTypes(plan, directives, *layout.solver, keptFromCodes);
  plan.pinsTogether = ofTypes.pinsTogether;
  if (plan.pinsTogether) plan.pinsTogether->decision += static_cast<std::uint32_t>(plan.decisions.size());
  explain(plan, std::move(ofTypes));
  append(plan.decisions, typesNotOffered(plan));
  append(plan.decisions, priceAnswers(plan));
  append(plan.decisions, indexWarnings(plan));
  return checkStop(stop);
}

enum class Answers { Given, LeftOut };

/// Runs the steps from 5 on.
Result<std::shared_ptr<const Plan>> finishPlan(Layout layout, const PriceModel* prices, const StopToken& stop,
                                               const BodyPlanner& planBody, Answers answers = Answers::Given) {
  Plan& plan = layout.plan;
  const DirectiveMap& directives = *layout.directives;

  // 5. The bodies of accelerated nodes are planned by the same steps.
  Explanations ofBodies = TRY(planBodies(plan, directives, planBody));

  // 6. Every decision is added, and every directive is answered.
  if (answers == Answers::Given) TRY(giveAnswers(layout, std::move(ofBodies), stop));

  // 7. Times are predicted from measured prices.
  predictTimes(plan, prices);
  plan.hash = planHash(plan);
  return std::make_shared<const Plan>(std::move(plan));
}

/// Runs all steps.
Result<std::shared_ptr<const Plan>> plannedWith(Answers answers, std::shared_ptr<const Model> model,
                                                const PlanOptions& options, const PriceModel* prices,
                                                const StopToken& stop, const Plan* previous) {
  PricedIntegers integers = TRY(integersByPrice(unquantized(model), options, prices, stop));
  model = TRY(quantizedModel(unquantized(model), options, previous, stop, integers));
  std::shared_ptr<const Structure> structure;
  if (previous != nullptr && previous->model == model) structure = previous->structure;
  PriceChoices priced = TRY(typesByPrice(model, options, prices, structure, stop));
  priced.integers = std::move(integers);
  Layout layout = TRY(layOut(model, options, priced, std::move(structure), stop));
  if (prices != nullptr && TRY(fusionsByPrice(layout, options, *prices, stop, priced)))
    layout = TRY(layOut(model, options, priced, layout.plan.structure, stop));
  const BodyPlanner planBody = [&](std::shared_ptr<const Model> body, const PlanOptions& own, NodeId holder,
                                   const std::string& attribute) {
    const Plan* before =
        previous != nullptr && previous->model == model ? previous->bodyPlan(holder, attribute) : nullptr;
    return plannedWith(answers, std::move(body), own, prices, stop, before);
  };
  return finishPlan(std::move(layout), prices, stop, planBody, answers);
}

}  // namespace

Result<std::shared_ptr<const Plan>> makePlan(std::shared_ptr<const Model> model, const PlanOptions& options,
                                             const PriceModel* prices, const StopToken& stop, const Plan* previous) {
  return plannedWith(Answers::Given, std::move(model), options, prices, stop, previous);
}

Result<std::shared_ptr<const Plan>> draftPlan(std::shared_ptr<const Model> model, const PlanOptions& options,
                                              const PriceModel* prices, const StopToken& stop, const Plan* previous) {
  return plannedWith(Answers::LeftOut, std::move(model), options, prices, stop, previous);
}

Result<std::shared_ptr<const Plan>> remakePlan(std::shared_ptr<const Model> model, const Json& recorded) try {
  const PlanOptions options = TRY(planOptionsFromJson(recorded.at("options")));
  PricedIntegers integers = recordedIntegers(*unquantized(model)->graph, recorded);
  model = TRY(quantizedModel(unquantized(model), options, nullptr, {}, integers));
  const auto prices = recordedPrices(*model, recorded);
  const PriceChoices priced = recordedChoices(*model->graph, recorded, std::move(integers));
  const BodyPlanner planBody = [&](std::shared_ptr<const Model> body, const PlanOptions& own, NodeId holder,
                                   const std::string& attribute) {
    const Json* before = recordedBody(recorded, model->graph->node(holder).name, attribute);
    return before != nullptr ? remakePlan(std::move(body), *before) : makePlan(std::move(body), own);
  };
  return finishPlan(TRY(layOut(model, options, priced, nullptr)), prices.get(), {}, planBody);
} catch (const Json::exception& error) {
  return Diagnostic{.message = std::string("a field of this plan is missing or has the wrong type: ") + error.what(),
                    .help = "See planning/FORMAT.md."};
}

}  // namespace fusescope
