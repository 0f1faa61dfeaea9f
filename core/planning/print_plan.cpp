#include "base/text.h"
#include "ir/graph.h"
#include "planning/plan_json.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

namespace {

std::string valueNames(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId value : values) names.push_back(graph.value(value).name);
  return joined(names);
}

/// Prints the covers of the bodies of a fused node, indented.
std::string bodiesText(const Cover& cover, const FusedNode& fused) {
  std::string text;
  for (const CoverBody& body : cover.bodies) {
    if (body.holder != fused.root) continue;
    text += "    " + body.attribute + ": ";
    for (const char letter : printPlan(*body.cover))
      text += letter == '\n' ? std::string("\n    ") : std::string(1, letter);
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text;
}

/// Prints the fused nodes of a segment, or those in no segment.
std::string fusedNodesText(const Cover& cover, SegmentId segment) {
  const Graph& graph = cover.graph();
  std::string text;
  for (const FusedNode& fused : cover.fusedNodes) {
    if (fused.segment != segment) continue;
    std::vector<std::string> members;
    for (NodeId id : fused.nodes) members.push_back(graph.node(id).name + ":" + graph.node(id).op);
    text += "  " + fused.kind + " " + std::string(name(fused.compute)) + " {" + joined(members, " ") + "} <- " +
            valueNames(graph, fused.inputs) + " ->";
    for (const FusedOutput& output : fused.outputs) {
      text += " " + graph.value(output.value).name + ":" + std::string(name(output.type));
    }
    text += "\n" + bodiesText(cover, fused);
  }
  return text;
}

std::string headText(const Cover& cover) {
  const ReadBackPlan* made = asReadBack(cover);
  const std::string by = made == nullptr ? "plan" : "what " + made->compiler.name + " made of the plan";
  return by + " for " + cover.target.canonical() + ": " + std::to_string(cover.graph().nodeCount()) + " nodes in " +
         std::to_string(cover.fusedNodes.size()) + " fused nodes\n";
}

}  // namespace

std::string printPlan(const Cover& cover) {
  const Graph& graph = cover.graph();
  std::string text = headText(cover);
  for (const ExtentCondition& condition : cover.model->conditions)
    text += "on condition that " + condition.text() + "\n";
  for (const Segment& segment : cover.segments)
    text += segment.name + " " + std::string(name(segment.kind)) + " " + segment.backend + ": " +
            std::to_string(segment.nodes.size()) + " nodes\n" + fusedNodesText(cover, segment.id);
  if (const std::string others = fusedNodesText(cover, SegmentId()); !others.empty())
    text += "of no segment\n" + others;
  for (const PlannedCast& cast : cover.casts) {
    text += "cast " + graph.value(cast.value).name + " " + std::string(name(cast.from)) + " -> " +
            std::string(name(cast.to)) + " (" + cast.reason + ")";
    for (FusedNodeId consumer : cast.consumers) text += " " + cover.fusedNodes[consumer.index].name + ";";
    text += "\n";
  }
  return text;
}

}  // namespace fusescope
