#include "session/part_choice.h"

#include <algorithm>

#include "base/name_hints.h"
#include "ir/graph.h"
#include "planning/patterns/match_pattern.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {
namespace {

using Nodes = std::set<std::size_t>;

void addOrigins(const Graph& graph, NodeId node, Nodes& chosen) {
  for (const OriginId origin : graph.node(node).origins) chosen.insert(origin.index);
}

Diagnostic inBody(const std::string& pattern, const BodyNode& node, const Graph& graph) {
  const std::string& holder = graph.node(node.holder).name;
  return {.message = "it is in a body, but a part consists of whole nodes of the main graph",
          .where = {.node = pattern, .attribute = "--nodes"},
          .help = "Choose the node that has the body: --nodes '" + holder + "'."};
}

Status addNodes(const NetworkCutter& cutter, const std::vector<std::string>& patterns, const StopToken& stop,
                Nodes& chosen) {
  PatternMatcher matcher(cutter.model());
  const Graph& graph = *cutter.model().graph;
  for (const std::string& pattern : patterns) {
    auto matched = matcher.match(pattern, stop);
    if (!matched.ok()) {
      Diagnostic error = std::move(matched).error();
      error.where.attribute = "--nodes";
      return error;
    }
    const PatternMatch& match = matched.value();
    if (match.nodes.empty() && match.removed.empty() && !match.inBodies.empty())
      return inBody(pattern, match.inBodies.front(), graph);
    for (const NodeId node : match.nodes) addOrigins(graph, node, chosen);
    for (const OriginId origin : match.removed) chosen.insert(origin.index);
    if (match.nodes.empty() && match.removed.empty())
      return Diagnostic{.message = "it names no node",
                        .where = {.node = pattern, .attribute = "--nodes"},
                        .help = "A part of a network cannot consist of an input or a weight."};
  }
  return Done{};
}

Status addSegments(const Cover& cover, const std::vector<std::string>& names, Nodes& chosen) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(cover.segments, name, &Segment::name);
    if (found == cover.segments.end()) {
      std::vector<std::string> known;
      for (const Segment& segment : cover.segments) known.push_back(segment.name);
      return Diagnostic{.message = "the plan has no segment '" + name + "'",
                        .where = {.attribute = "--segment"},
                        .help = "Segments are " + listed(known) + "."};
    }
    for (const NodeId node : found->nodes) addOrigins(cover.graph(), node, chosen);
  }
  return Done{};
}

/// Returns the kernels with this name or identity; if there are none, those that contain the node of this name.
std::vector<const FusedNode*> kernelsNamed(const Cover& cover, const std::string& name) {
  std::vector<const FusedNode*> found;
  for (const FusedNode& fused : cover.fusedNodes)
    if (fused.name == name || fused.identity.hex() == name) found.push_back(&fused);
  if (const auto node = cover.graph().findNode(name); found.empty() && node)
    for (const FusedNodeId fused : kernelsOf(cover, *node)) found.push_back(&cover.fusedNodes[fused.index]);
  return found;
}

Status addKernels(const Cover& cover, const std::vector<std::string>& names, Nodes& chosen) {
  for (const std::string& name : names) {
    const auto found = kernelsNamed(cover, name);
    if (found.empty()) {
      std::vector<std::string> known;
      for (const FusedNode& fused : cover.fusedNodes) known.push_back(fused.name);
      return Diagnostic{.message = "the plan has no kernel '" + name + "', and no kernel contains a node of that name",
                        .where = {.attribute = "--kernel"},
                        .help = nearestInWords(name, known, "'plan --json' lists kernels with names and identities.")};
    }
    const std::size_t before = chosen.size();
    for (const FusedNode* fused : found)
      for (const NodeId node : fused->nodes) addOrigins(cover.graph(), node, chosen);
    if (chosen.size() == before && found.front()->nodes.empty())
      return Diagnostic{
          .message = "the kernel '" + name + "' calculates no node of the network: it only moves or prepares data",
          .where = {.attribute = "--kernel"}};
  }
  return Done{};
}

}  // namespace

Result<Nodes> chosenNodes(const NetworkCutter& cutter, const Cover& cover, const PartSelection& selection,
                          const StopToken& stop) {
  Nodes chosen;
  TRY(addNodes(cutter, selection.nodes, stop, chosen));
  TRY(addSegments(cover, selection.segments, chosen));
  TRY(addKernels(cover, selection.kernels, chosen));
  return chosen;
}

Result<NetworkPart> chosenPart(const NetworkCutter& cutter, const Cover& cover, const PartSelection& selection,
                               const StopToken& stop) {
  if (selection.isByValues() == selection.isByNodes())
    return Diagnostic{.message = selection.isByValues() ? "a part is given either by values or by nodes, not both"
                                                        : "the part is missing",
                      .where = {.attribute = selection.isByValues() ? "--from" : ""},
                      .help = "Give --from and --to with values, or --nodes, --segment or --kernel with names."};
  if (selection.isByValues()) return partBetween(cutter.values(), selection.from, selection.to, cutter.facts());
  return partOfNodes(cutter.values(), TRY(chosenNodes(cutter, cover, selection, stop)), cutter.facts());
}

}  // namespace fusescope
