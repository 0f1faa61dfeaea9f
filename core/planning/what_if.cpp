#include <algorithm>
#include <set>

#include "base/text.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

class WhatIfSearch {
 public:
  WhatIfSearch(const Plan& plan, NodeId node) : m_plan(plan), m_node(node) {}

  std::vector<WhatIf> run() {
    for (const Directive& directive : m_plan.options.directives) {
      if (directive.kind != DirectiveKind::Tactic) tryWithout(directive);
    }
    for (const Decision& decision : m_plan.decisions) {
      if (concerns(decision)) tryAnswerTo(decision);
    }
    return std::move(m_found);
  }

 private:
  const std::string& nodeName() const { return m_plan.graph().node(m_node).name; }

  bool concerns(const Decision& decision) const {
    return !decision.allowed && std::find(decision.subjects.begin(), decision.subjects.end(),
                                          Subject::node(nodeName())) != decision.subjects.end();
  }

  void tryWithout(const Directive& directive) {
    PlanOptions options = m_plan.options;
    std::erase_if(options.directives, [&](const Directive& other) { return other.id == directive.id; });
    consider(options, directive, "without " + optionText(directive));
  }

  void tryWith(const Directive& directive) {
    PlanOptions options = m_plan.options;
    std::erase_if(options.directives, [&](const Directive& other) {
      return other.kind == directive.kind &&
             (directive.kind == DirectiveKind::Truncate || directive.kind == DirectiveKind::MinSegment);
    });
    options.directives.push_back(directive);
    consider(options, directive, optionText(directive));
  }

  /// What could lift a refusal, going by its code.
  void tryAnswerTo(const Decision& decision) {
    if (decision.code == "validate.needs_truncation") {
      const auto mode = parseTruncate(decision.arguments.value("mode", "all"));
      if (mode.ok()) tryWith(mode.value());
    } else if (decision.code == "partition.too_small") {
      tryWith(minSegmentDirective(decision.arguments.value("nodes", 1)));
    } else if (decision.code == "fuse.precision_differs") {
      tryPinsLike(decision);
    }
  }

  /// Two neighbours compute in different types: either could take the type of the other.
  void tryPinsLike(const Decision& decision) {
    const auto pin = [](const std::string& node, const std::string& type) {
      return Directive{
          .kind = DirectiveKind::Pin, .pattern = node, .type = dataTypeFromName(type).value_or(DataType::F32)};
    };
    const std::string producer = decision.arguments.value("producer", "");
    const std::string consumer = decision.arguments.value("consumer", "");
    tryWith(pin(producer, decision.arguments.value("consumer_type", "f32")));
    tryWith(pin(consumer, decision.arguments.value("producer_type", "f32")));
  }

  /// Plans with `options`, and keeps the change if it does something for the node.
  void consider(const PlanOptions& options, const Directive& directive, const std::string& change) {
    if (!m_tried.insert(change).second) return;
    const auto replanned = makePlan(m_plan.model, options);
    if (!replanned.ok()) return;
    const std::string effect = effectOf(*replanned.value());
    if (!effect.empty()) m_found.push_back({directive, change, effect});
  }

  const Segment& segmentIn(const Plan& plan) const { return plan.segments[plan.fusedNodeOf(m_node)->segment.index]; }

  const PrecisionGrant* grantIn(const Plan& plan) const {
    const auto found = std::find_if(plan.precisionMap.begin(), plan.precisionMap.end(),
                                    [&](const PrecisionGrant& grant) { return grant.node == m_node; });
    return found == plan.precisionMap.end() ? nullptr : &*found;
  }

  std::string effectOf(const Plan& other) const {
    std::vector<std::string> effects;
    const Segment& before = segmentIn(m_plan);
    const Segment& after = segmentIn(other);
    if (before.kind == SegmentKind::Fallback && after.kind == SegmentKind::Accelerated) {
      effects.push_back(nodeName() + " would run in " + after.name);
    }
    const FusedNode& fusedBefore = *m_plan.fusedNodeOf(m_node);
    const FusedNode& fusedAfter = *other.fusedNodeOf(m_node);
    std::vector<std::string> joins;
    for (NodeId id : fusedAfter.nodes) {
      const bool known = std::find(fusedBefore.nodes.begin(), fusedBefore.nodes.end(), id) != fusedBefore.nodes.end();
      if (!known) joins.push_back(m_plan.graph().node(id).name);
    }
    const bool keepsAll = std::all_of(fusedBefore.nodes.begin(), fusedBefore.nodes.end(), [&](NodeId id) {
      return std::find(fusedAfter.nodes.begin(), fusedAfter.nodes.end(), id) != fusedAfter.nodes.end();
    });
    if (!joins.empty() && keepsAll) effects.push_back(nodeName() + " would run as one kernel with " + joined(joins));
    const PrecisionGrant* grant = grantIn(m_plan);
    const PrecisionGrant* granted = grantIn(other);
    const bool refused = grant != nullptr && grant->asked != DataType::Undefined && grant->asked != grant->granted;
    if (refused && granted != nullptr && granted->granted == grant->asked) {
      effects.push_back(nodeName() + " would compute in " + std::string(name(grant->asked)) + " as asked");
    }
    if (!effects.empty() && other.casts.size() < m_plan.casts.size()) {
      effects.push_back(std::to_string(m_plan.casts.size() - other.casts.size()) + " casts fewer");
    }
    return joined(effects, "; ");
  }

  const Plan& m_plan;
  NodeId m_node;
  std::set<std::string> m_tried;
  std::vector<WhatIf> m_found;
};

}  // namespace

std::vector<WhatIf> wouldHelp(const Plan& plan, NodeId node) {
  return WhatIfSearch(plan, node).run();
}

}  // namespace fusescope
