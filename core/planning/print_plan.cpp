#include "base/text.h"
#include "planning/plan_json.h"

namespace fusescope {

namespace {

std::string valueNames(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId value : values) names.push_back(graph.value(value).name);
  return joined(names);
}

/// The plans of the bodies of a fused node, further in.
std::string bodiesText(const Plan& plan, const FusedNode& fused) {
  std::string text;
  for (const PlannedBody& body : plan.bodies) {
    if (body.holder != fused.root) continue;
    text += "    " + body.attribute + ": ";
    for (const char letter : printPlan(*body.plan))
      text += letter == '\n' ? std::string("\n    ") : std::string(1, letter);
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text;
}

}  // namespace

std::string printPlan(const Plan& plan) {
  const Graph& graph = plan.graph();
  std::string text = "plan for " + plan.target.canonical() + ": " + std::to_string(graph.nodeCount()) + " nodes in " +
                     std::to_string(plan.fusedNodes.size()) + " fused nodes\n";
  for (const ExtentCondition& condition : plan.model->conditions)
    text += "on condition that " + condition.text() + "\n";
  for (const Segment& segment : plan.segments) {
    text += segment.name + " " + std::string(name(segment.kind)) + " " + segment.backend + ": " +
            std::to_string(segment.nodes.size()) + " nodes\n";
    for (const FusedNode& fused : plan.fusedNodes) {
      if (fused.segment != segment.id) continue;
      std::vector<std::string> members;
      for (NodeId id : fused.nodes) members.push_back(graph.node(id).name + ":" + graph.node(id).op);
      text += "  " + fused.kind + " " + std::string(name(fused.compute)) + " {" + joined(members, " ") + "} <- " +
              valueNames(graph, fused.inputs) + " ->";
      for (const FusedOutput& output : fused.outputs) {
        text += " " + graph.value(output.value).name + ":" + std::string(name(output.type));
      }
      text += "\n" + bodiesText(plan, fused);
    }
  }
  for (const PlannedCast& cast : plan.casts) {
    text += "cast " + graph.value(cast.value).name + " " + std::string(name(cast.from)) + " -> " +
            std::string(name(cast.to)) + " (" + cast.reason + ")";
    for (FusedNodeId consumer : cast.consumers) text += " " + plan.fusedNodes[consumer.index].name + ";";
    text += "\n";
  }
  return text;
}

}  // namespace fusescope
