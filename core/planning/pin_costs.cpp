#include <algorithm>
#include <set>

#include "planning/steps.h"

namespace fusescope {

namespace {

bool isPin(const Directive& directive) {
  return directive.kind == DirectiveKind::Pin || directive.kind == DirectiveKind::PinOutput;
}

/// The nodes for which a granting decision names the directive.
std::set<NodeId> nodesGranted(const Plan& plan, const Directive& directive) {
  std::set<NodeId> nodes;
  const std::string by = directiveName(directive);
  for (const Decision& decision : plan.decisions) {
    const bool granted = decision.code == "precision.pin_granted" || decision.code == "precision.output_granted";
    if (!granted || decision.by != by) continue;
    if (const auto node = plan.graph().findNode(decision.subjects.front().name)) nodes.insert(*node);
  }
  return nodes;
}

bool holdsAny(const FusedNode& fused, const std::set<NodeId>& nodes) {
  return std::any_of(fused.nodes.begin(), fused.nodes.end(), [&](NodeId id) { return nodes.contains(id); });
}

bool hasCast(const Plan& plan, const PlannedCast& cast) {
  return std::any_of(plan.casts.begin(), plan.casts.end(), [&](const PlannedCast& other) {
    return other.value == cast.value && other.from == cast.from && other.to == cast.to;
  });
}

std::vector<std::string> lostFusions(const Plan& plan, const Plan& baseline, const std::set<NodeId>& nodes) {
  std::vector<std::string> lost;
  for (const FusedNode& fused : baseline.fusedNodes) {
    if (fused.nodes.size() < 2 || !holdsAny(fused, nodes)) continue;
    if (plan.fusedNodeOf(fused.root)->nodes != fused.nodes) lost.push_back(fused.name);
  }
  return lost;
}

std::size_t addedCasts(const Plan& plan, const Plan& baseline, const std::set<NodeId>& nodes) {
  const auto touches = [&](FusedNodeId id) { return id.valid() && holdsAny(plan.fusedNodes[id.index], nodes); };
  return static_cast<std::size_t>(std::count_if(plan.casts.begin(), plan.casts.end(), [&](const PlannedCast& cast) {
    const bool near = touches(cast.producer) || std::any_of(cast.consumers.begin(), cast.consumers.end(), touches);
    return near && !hasCast(baseline, cast);
  }));
}

}  // namespace

bool anyPinGranted(const Plan& plan) {
  return std::any_of(plan.decisions.begin(), plan.decisions.end(), [](const Decision& decision) {
    return decision.code == "precision.pin_granted" || decision.code == "precision.output_granted";
  });
}

std::vector<Decision> pinCosts(const Plan& plan, const Plan& baseline) {
  std::vector<Decision> decisions;
  for (const Directive& directive : plan.options.directives) {
    if (!isPin(directive)) continue;
    const std::set<NodeId> nodes = nodesGranted(plan, directive);
    const std::vector<std::string> lost = lostFusions(plan, baseline, nodes);
    const std::size_t casts = addedCasts(plan, baseline, nodes);
    if (lost.empty() && casts == 0) continue;
    std::vector<Subject> subjects;
    for (NodeId node : nodes) subjects.push_back(Subject::node(plan.graph().node(node).name));
    const char* code = lost.empty() ? "precision.pin_casts" : "precision.pin_split";
    decisions.push_back(
        decide(code, std::move(subjects), directiveName(directive), {{"lost_fusions", lost}, {"casts", casts}}));
  }
  return decisions;
}

}  // namespace fusescope
