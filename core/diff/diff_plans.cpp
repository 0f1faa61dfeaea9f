#include "diff/diff_plans.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/text.h"
#include "diff/diff_parts.h"
#include "diff/file_match.h"
#include "diff/made_causes.h"
#include "diff/option_differences.h"
#include "ir/graph.h"
#include "planning/plan_totals.h"
#include "planning/read_back/compare_prediction.h"

namespace fusescope {

namespace {

void addTotals(const Cover& plan, DiffTotals& totals) {
  totals.nodes += std::ssize(plan.graph().order());
  totals.fusedNodes += std::ssize(plan.fusedNodes);
  totals.segments += std::ssize(plan.segments);
  totals.casts += std::ssize(plan.casts);
  for (const FusedNode& fused : plan.fusedNodes) totals.bytes += fused.bytes.value_or(0);
  for (const PlannedCast& cast : plan.casts) totals.castBytes += cast.bytes.value_or(0);
  for (const CoverBody& body : plan.bodies) addTotals(*body.cover, totals);
}

/// Returns the types in which nodes calculate according to the compiler ("f32,f16"); empty if it does not report them.
std::string typesMade(const ReadBackPlan& made) {
  std::set<DataType> types;
  for (const DataType type : made.calculates)
    if (type != DataType::Undefined) types.insert(type);
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(name(type));
  return joined(names, ",");
}

DiffTotals totalsOf(const DiffInput& input) {
  const Cover& cover = *input.cover;
  DiffTotals totals{
      .label = input.label, .target = cover.options.target, .precision = precisionText(cover.options), .time = {}};
  if (const ReadBackPlan* readBack = asReadBack(cover)) {
    totals.compiler = compilerText(readBack->compiler);
    if (const std::string made = typesMade(*readBack); !made.empty()) totals.precision = made;
    totals.casts += std::ssize(readBack->conversions);
  }
  addTotals(cover, totals);
  if (const Plan* plan = asPlan(cover); plan != nullptr && plan->predictedMs) {
    const bool measured = predictedTime(*plan).fittedMs == 0;
    totals.time = DiffTime{*plan->predictedMs, measured ? DiffTimeKind::Measured : DiffTimeKind::Fitted};
  }
  return totals;
}

/// Adds the differences between the networks of all levels: nodes that only one side has, and nodes that changed.
void addNetworkChanges(const std::vector<PlanLevel>& levels, const std::vector<FileMatch>& files, PlanDiff& diff) {
  for (std::size_t place = 0; place < levels.size(); ++place) {
    const PlanLevel& level = levels[place];
    if (level.a == nullptr || level.b == nullptr) continue;
    const NetworkMatch& match = level.match;
    const Graph& a = level.a->graph();
    const Graph& b = level.b->graph();
    const std::int64_t byId = match.count(MatchedBy::Id);
    diff.byName += match.count(MatchedBy::Name);
    diff.byStructure += match.count(MatchedBy::Structure);
    diff.matched += byId + match.count(MatchedBy::Name) + match.count(MatchedBy::Structure);
    diff.oneNetwork &= files[place].oneNetwork();
    for (const NodeId node : match.onlyA) diff.onlyA.push_back(level.pathOfA.of(a.node(node).name));
    for (const NodeId node : match.onlyB) diff.onlyB.push_back(level.pathOfB.of(b.node(node).name));
    for (const NodeId node : match.changed) {
      const NodeId other = match.nodeOfB[node.index];
      diff.changed.push_back(
          {level.pathOfA.of(a.node(node).name), level.pathOfB.of(b.node(other).name), changeText(a, node, b, other)});
    }
  }
}

std::string specText(const InputSpec& spec) {
  std::string text = spec.name + "=" + toText(spec.opt);
  if (!spec.fixed()) text += " (" + toText(spec.min) + " to " + toText(spec.max) + ")";
  return text + ":" + std::string(name(spec.dtype));
}

/// Adds inputs that both sides have with different extents or types.
void addInputDifferences(const PlanLevel& level, PlanDiff& diff) {
  const Graph& a = level.a->graph();
  const Graph& b = level.b->graph();
  std::string textOfA, textOfB;
  for (std::size_t i = 0; i < level.a->inputSpecs.size() && i < a.inputs().size(); ++i) {
    const ValueId other = level.match.valueOfB[a.inputs()[i].index];
    const auto found = std::ranges::find(b.inputs(), other);
    if (found == b.inputs().end()) continue;
    const InputSpec& ofA = level.a->inputSpecs[i];
    const InputSpec& ofB = level.b->inputSpecs[static_cast<std::size_t>(found - b.inputs().begin())];
    if (ofA.dtype == ofB.dtype && ofA.min == ofB.min && ofA.opt == ofB.opt && ofA.max == ofB.max) continue;
    textOfA += (textOfA.empty() ? "--input " : " --input ") + specText(ofA);
    textOfB += (textOfB.empty() ? "--input " : " --input ") + specText(ofB);
  }
  if (!textOfA.empty()) diff.differences.push_back({DifferenceKind::Inputs, textOfA, textOfB});
}

/// Returns the number of A's nodes that differ from their counterparts in attributes, types of constants or elements of
/// constants.
std::size_t changedNodes(const FileMatch& files) {
  std::set<NodeId> nodes(files.match().changed.begin(), files.match().changed.end());
  for (const OtherConstant& constant : files.otherConstants())
    nodes.insert(constant.readers.begin(), constant.readers.end());
  return nodes.size();
}

/// Adds the difference between the files, without what options inserted.
void addNetworkDifference(const std::vector<PlanLevel>& levels, const std::vector<FileMatch>& files, PlanDiff& diff) {
  std::size_t onlyA = 0, onlyB = 0, changed = 0;
  for (std::size_t place = 0; place < levels.size(); ++place) {
    if (levels[place].a == nullptr || levels[place].b == nullptr) continue;
    const NetworkMatch& match = files[place].match();
    onlyA += match.onlyA.size();
    onlyB += match.onlyB.size();
    changed += changedNodes(files[place]);
  }
  if (onlyA + onlyB + changed == 0) return;
  diff.differences.push_back(
      {DifferenceKind::Network, "the network with " + std::to_string(onlyA) + " nodes of its own",
       "that with " + std::to_string(onlyB) + ", and " + std::to_string(changed) + " that changed"});
}

/// Returns how well one side predicted the other; nothing if it is no prediction of it.
std::optional<PredictionOfSide> predictionIn(const Cover& a, const Cover& b) {
  for (const bool isA : {true, false}) {
    const Plan* plan = asPlan(isA ? a : b);
    const ReadBackPlan* made = asReadBack(isA ? b : a);
    if (plan != nullptr && made != nullptr && isPredictionOf(*plan, *made))
      return PredictionOfSide{isA, agreementOf(*plan, *made)};
  }
  return {};
}

/// Returns the comparison with the differences of options and networks.
PlanDiff begun(const DiffInput& a, const DiffInput& b, const std::vector<PlanLevel>& levels,
               const std::vector<FileMatch>& files) {
  PlanDiff diff{.a = totalsOf(a), .b = totalsOf(b), .prediction = {}};
  diff.differences = optionDifferences(a.cover->options, b.cover->options);
  addCompilerDifferences(*a.cover, *b.cover, diff.differences);
  diff.causesKnown = !diff.isReadBack();
  diff.prediction = predictionIn(*a.cover, *b.cover);
  addNetworkChanges(levels, files, diff);
  for (std::size_t place = 0; place < levels.size(); ++place) addConstantChanges(levels[place], files[place], diff);
  std::ranges::stable_sort(diff.constants, std::ranges::greater(),
                           [](const ConstantChange& change) { return change.maxOverRms.value_or(INFINITY); });
  addInputDifferences(levels.front(), diff);
  const bool byInputs = !diff.differences.empty() && diff.differences.back().kind == DifferenceKind::Inputs &&
                        unquantizedModel(*a.cover->model).contentHash == unquantizedModel(*b.cover->model).contentHash;
  if (!byInputs) addNetworkDifference(levels, files, diff);
  return diff;
}

void addChanges(const DiffInput& a, const DiffInput& b, const std::vector<PlanLevel>& levels, CauseFinder* causes,
                PlanDiff& diff) {
  for (std::size_t place = 0; place < levels.size(); ++place) {
    addSegmentChanges(levels[place], place, causes, diff);
    addFusionChanges(levels[place], place, causes, diff);
    addFateChanges(levels[place], diff);
    addTypeChanges(levels[place], place, causes, diff);
    addCastChanges(levels[place], place, causes, diff);
    addDecisionChanges(levels[place], place, causes, diff);
    addTimeChanges(levels[place], a, b, diff);
  }
  if (const auto [ofA, ofB] = comparableErrors(a, b); ofA != nullptr) {
    diff.a.errorsOn = ofA->on;
    diff.b.errorsOn = ofB->on;
    diff.errorsAlike = ofA->how == ofB->how;
    addErrorChanges(levels.front(), *ofA, *ofB, diff);
  }
}

}  // namespace

PlanDiff changesBetween(const DiffInput& a, const DiffInput& b) {
  const std::vector<PlanLevel> levels = planLevels(*a.cover, *b.cover);
  PlanDiff diff = begun(a, b, levels, fileMatches(levels));
  addChanges(a, b, levels, nullptr, diff);
  return diff;
}

Result<PlanDiff> diffPlans(const DiffInput& a, const DiffInput& b, const PriceModel* prices, const StopToken& stop) {
  const std::vector<PlanLevel> levels = planLevels(*a.cover, *b.cover);
  TRY(checkStop(stop));
  const std::vector<FileMatch> files = fileMatches(levels);
  PlanDiff diff = begun(a, b, levels, files);
  const Plan* planOfA = asPlan(*a.cover);
  const Plan* planOfB = asPlan(*b.cover);
  if (planOfA != nullptr && planOfB != nullptr) {
    CauseFinder causes = TRY(CauseFinder::make(levels, files, *planOfA, *planOfB, diff, prices, stop));
    addChanges(a, b, levels, &causes, diff);
  } else {
    addChanges(a, b, levels, nullptr, diff);
    nameMadeCauses(levels, diff);
  }
  return diff;
}

}  // namespace fusescope
