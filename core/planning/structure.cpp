#include "planning/structure.h"

#include <unordered_map>

#include "base/json.h"
#include "planning/directives/directive_form.h"
#include "planning/optimised_operators.h"

namespace fusescope {

namespace {

std::string structureKey(const Model& model, const Target& target, const DirectiveMap& directives,
                         const PlanOptions& options) {
  Directives structural;  // where nodes run, and to which types values are narrowed for the target
  for (const Directive& directive : options.directives)
    if (formOf(directive).reach == DirectiveReach::Segments) structural.push_back(directive);
  std::string key = model.contentHash.hex() + " " + target.canonical() + " " + toJson(structural).dump();
  key += " " + options.compiler;
  if (options.support != nullptr) key += toJson(*options.support).dump();
  if (!splitsEndSegments(model, options)) return key;
  for (std::size_t node = 0; node < directives.split.size(); ++node)
    if (const int split = directives.split[node]; split >= 0)
      key += " " + std::to_string(node) + "=" + causeOf(options.directives[static_cast<std::size_t>(split)]).text();
  return key;
}

std::vector<char> acceleratedNodes(const Graph& graph, const Partitioning& partition) {
  std::vector<char> accelerated(graph.nodeIdLimit(), 0);
  for (const Segment& segment : partition.segments) {
    if (segment.kind != SegmentKind::Accelerated) continue;
    for (const NodeId id : segment.nodes) accelerated[id.index] = 1;
  }
  return accelerated;
}

void takeVerdicts(const Graph& graph, std::vector<NodeVerdict> verdicts, Structure& structure) {
  structure.decisions.reserve(2 * verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    NodeVerdict& verdict = verdicts[i];
    if (verdict.truncation || !verdict.equivalent.empty())
      structure.remedies.emplace(graph.order()[i], Remedy{verdict.truncation, verdict.equivalent});
    structure.decisions.push_back(std::move(verdict.why));
  }
}

/// The code for a node that falls back although the compiler was never asked about it.
constexpr const char* kNotAsked = "validate.not_asked";

Decision whyRefused(const Node& node, const NodeSupport& support, const PlanOptions& options) {
  const char* code = support.code == kNotAsked                  ? kNotAsked
                     : support.foundBy == SupportSource::Parser ? "validate.compiler_refused"
                                                                : "validate.compiler_failed";
  return decide(code, {Subject::node(node.name)}, options.compiler,
                {{"op", node.op}, {"compiler", options.compiler}, {"message", support.message}});
}

/// Returns why a node is given to the compiler although the table refuses it.
Decision whyTaken(const Node& node, const NodeSupport& support, const PlanOptions& options, const Decision& predicted) {
  if (support.foundBy == SupportSource::Build)
    return decide("validate.was_built", {Subject::node(node.name)}, options.target, {{"op", node.op}});
  return decide("validate.predicted_refusal", {Subject::node(node.name)}, options.compiler,
                {{"op", node.op},
                 {"compiler", options.compiler},
                 {"inner_code", predicted.code},
                 {"predicted", message(predicted)}});
}

/// Applies the compiler's answers, which take the place of what the target's table says of the same nodes: nodes that
/// it refuses fall back, and all others that it was asked about are given to it. Returns those among them that the
/// table refuses.
std::vector<NodeId> judgeByCompiler(const Graph& graph, const PlanOptions& options,
                                    std::vector<NodeVerdict>& verdicts) {
  std::vector<NodeId> againstTable;
  if (options.support == nullptr) return againstTable;
  std::unordered_map<std::string_view, const NodeSupport*> byNode;
  for (const NodeSupport& node : options.support->nodes) byNode.emplace(node.node, &node);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Node& node = graph.node(graph.order()[i]);
    const auto support = byNode.find(node.name);
    if (support == byNode.end()) continue;
    const bool isRefused = support->second->isAccepted == false || support->second->code == kNotAsked;
    if (!isRefused && verdicts[i].supported) continue;
    NodeVerdict verdict;
    verdict.supported = !isRefused;
    verdict.why = isRefused ? whyRefused(node, *support->second, options)
                            : whyTaken(node, *support->second, options, verdicts[i].why);
    verdicts[i] = std::move(verdict);
    if (!isRefused) againstTable.push_back(node.id);
  }
  return againstTable;
}

void indexRegions(const Graph& graph, Structure& structure) {
  structure.regionOf.assign(graph.nodeIdLimit(), 0);
  for (std::size_t i = 0; i < structure.fusion.regions.size(); ++i)
    for (const NodeId id : structure.fusion.regions[i].nodes)
      structure.regionOf[id.index] = static_cast<std::uint32_t>(i);
  for (const Region& region : structure.fusion.regions)
    if (const NodeId root = quantisedRoot(graph, region); root.valid()) structure.facts[root.index].quantised = true;
}

}  // namespace

Result<std::shared_ptr<const Structure>> makeStructure(const Model& model, const Target& target,
                                                       const DirectiveMap& directives, const PlanOptions& options,
                                                       std::shared_ptr<const Structure> previous,
                                                       const StopToken& stop) {
  const Graph& graph = *model.graph;
  std::string key = structureKey(model, target, directives, options);
  if (previous != nullptr && previous->key == key) return previous;
  auto structure = std::make_shared<Structure>();
  structure->key = std::move(key);
  structure->usual = std::make_shared<const ChosenExtents>(model);
  if (hasOpenInputs(model)) {
    structure->least = std::make_shared<const ChosenExtents>(model, ChosenExtents::Choice::Least);
    structure->most = std::make_shared<const ChosenExtents>(model, ChosenExtents::Choice::Most);
  }

  // 1. Types that the target lacks are truncated, as if every node ran accelerated.
  structure->truncation =
      planTruncation(graph, target, directives.truncate, model.isBody ? GraphInputs::FromHolder : GraphInputs::Open);
  TRY(checkStop(stop));

  // 2. There is one verdict per node, on the types after truncation.
  std::vector<NodeVerdict> verdicts = validateNodes(graph, target, directives, structure->truncation);
  refuseOptimisedOperators(model, target, verdicts);
  refuseInlinedOperators(model, target, verdicts);
  judgeEinsumLetters(model, target, verdicts);
  structure->acceptedAgainstTable = judgeByCompiler(graph, options, verdicts);
  TRY(checkStop(stop));

  // 3. Segments are found.
  const auto firstVerdict = static_cast<std::uint32_t>(model.decisions.size());
  const SplitReach splits = splitsEndSegments(model, options) ? SplitReach::Segments : SplitReach::Kernels;
  structure->partition = partitionGraph(graph, target, verdicts, firstVerdict, directives, options, splits);
  structure->accelerated = acceleratedNodes(graph, structure->partition);
  takeVerdicts(graph, std::move(verdicts), *structure);
  append(structure->decisions, std::move(structure->partition.decisions));
  TRY(checkStop(stop));

  // 4. The segments are known now, and truncation is kept only inside accelerated ones.
  settleTruncation(graph, target, structure->accelerated, directives, options, structure->truncation);
  append(structure->decisions, std::move(structure->truncation.decisions));

  // 5. The facts of each node are determined, and the regions that could run as one kernel without any directive.
  structure->facts = nodeFacts(graph, structure->partition, structure->truncation);
  structure->uncalculated = uncalculatedValues(graph, structure->facts);
  structure->fusion = fuseNodes(graph, structure->partition, graph.order(), {.facts = &structure->facts});
  indexRegions(graph, *structure);
  TRY(checkStop(stop));
  return std::shared_ptr<const Structure>(std::move(structure));
}

bool splitsEndSegments(const Model& model, const PlanOptions& options) {
  return options.compiler != kOwnCompiler && !model.isBody;
}

}  // namespace fusescope
