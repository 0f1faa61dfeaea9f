#include "planning/structure.h"

#include <unordered_map>

#include "planning/directives/directive_form.h"
#include "planning/optimised_operators.h"

namespace fusescope {

namespace {

std::string structureKey(const Model& model, const Target& target, const PlanOptions& options) {
  Directives structural;  // where nodes run, and to which types values are narrowed for the target
  for (const Directive& directive : options.directives)
    if (formOf(directive).reach == DirectiveReach::Segments) structural.push_back(directive);
  const std::string support = options.support != nullptr ? options.compiler + toJson(*options.support).dump() : "";
  return model.contentHash.hex() + " " + target.canonical() + " " + toJson(structural).dump() + support;
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

/// Applies the compiler's answers, which take precedence over the target's table: nodes that it refuses, and nodes that
/// it has built.
void judgeByCompiler(const Graph& graph, const PlanOptions& options, std::vector<NodeVerdict>& verdicts) {
  if (options.support == nullptr) return;
  std::unordered_map<std::string_view, const NodeSupport*> byNode;
  for (const NodeSupport& node : options.support->nodes)
    if (node.taken == false || node.code == kNotAsked || (node.taken == true && node.foundBy == SupportSource::Build))
      byNode.emplace(node.node, &node);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Node& node = graph.node(graph.order()[i]);
    const auto said = byNode.find(node.name);
    if (said == byNode.end()) continue;
    const bool isBuilt = said->second->taken == true;
    if (isBuilt && verdicts[i].supported) continue;
    verdicts[i] = {};
    verdicts[i].supported = isBuilt;
    if (isBuilt) {
      verdicts[i].why = decide("validate.was_built", {Subject::node(node.name)}, options.target, {{"op", node.op}});
      continue;
    }
    const char* code = said->second->code == kNotAsked                  ? kNotAsked
                       : said->second->foundBy == SupportSource::Parser ? "validate.compiler_refused"
                                                                        : "validate.compiler_failed";
    verdicts[i].why = decide(code, {Subject::node(node.name)}, options.compiler,
                             {{"op", node.op}, {"compiler", options.compiler}, {"message", said->second->message}});
  }
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
  std::string key = structureKey(model, target, options);
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
  judgeByCompiler(graph, options, verdicts);
  TRY(checkStop(stop));

  // 3. Segments are found.
  const auto firstVerdict = static_cast<std::uint32_t>(model.decisions.size());
  structure->partition = partitionGraph(graph, target, verdicts, firstVerdict, directives, options);
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

}  // namespace fusescope
