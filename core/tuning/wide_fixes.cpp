#include "tuning/wide_fixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/quantities.h"
#include "base/text.h"
#include "ir/graph.h"
#include "planning/draft_plan.h"
#include "planning/plan_totals.h"
#include "planning/types/read_type.h"
#include "planning/types/without_lowered_types.h"
#include "tuning/pinnable_nodes.h"
#include "tuning/plan_runner.h"

namespace fusescope {
namespace {

const FusedNode* makerOf(const Plan& plan, ValueId value) {
  const NodeId producer = plan.graph().value(value).producer;
  return producer.valid() ? plan.fusedNodeOf(producer) : nullptr;
}

/// Adds "2 casts more" or "1 kernel fewer"; nothing if the numbers are equal.
void addDifference(std::vector<std::string>& parts, std::int64_t more, std::string_view what) {
  if (more != 0) parts.push_back(inCountDifference(more, what));
}

/// Searches around one value of one plan.
class FixSearch {
 public:
  FixSearch(const std::shared_ptr<const Plan>& plan, ValueId value, const Pinnable& pinnable)
      : m_plan(plan), m_graph(plan->graph()), m_value(value), m_maker(*makerOf(*plan, value)), m_pinnable(pinnable) {
    for (std::uint32_t i = 0; i < pinnable.nodes.size(); ++i) m_byName.emplace(pinnable.nodes[i].pattern, i);
  }

  /// Returns the sets of pins to try, without duplicates.
  std::vector<PinSet> candidates(Harm harm) const {
    PinSet own, nearest, readers, feeders;
    for (std::uint32_t i = 0; i < m_pinnable.nodes.size(); ++i)
      if (m_pinnable.nodes[i].fused == m_maker.id) own.insert(i);
    addMakers(m_value, nearest);
    addReaders(m_value, readers);
    for (const ValueId input : m_maker.inputs) addMakers(input, feeders);
    std::vector<PinSet> sets{own, both(own, readers), both(both(own, readers), feeders)};
    if (harm == Harm::NotFinite) sets = {nearest, own, both(nearest, readers), sets[1], sets[2]};
    std::vector<PinSet> distinct;
    for (PinSet& set : sets)
      if (!set.empty() && std::ranges::find(distinct, set) == distinct.end()) distinct.push_back(std::move(set));
    return distinct;
  }

  Result<WideFix> planned(const PinSet& pins, const PriceModel* prices, const StopToken& stop) const {
    WideFix fix;
    PlanOptions options = m_plan->options;
    for (const std::uint32_t pin : pins) {
      const PinnableNode& node = m_pinnable.nodes[pin];
      fix.pins.push_back({.kind = DirectiveKind::Pin, .pattern = node.pattern, .type = node.exact});
      options.directives.push_back(fix.pins.back());
    }
    assignIds(options.directives);
    fix.plan = TRY(draftPlan(m_plan->model, options, prices, stop, m_plan.get()));
    fix.effect = effectOf(*fix.plan);
    if (fix.effect.empty()) fix.effect = effectInBodies(fix.pins);
    return fix;
  }

  bool changesIt(const Plan& after, Harm harm) const {
    const auto now = valueIn(after);
    if (!now) return true;  // the value was codes before, and is not codes now
    const DataType before = m_plan->storedType(m_value), stored = after.storedType(*now);
    if (harm == Harm::NotFinite) return bitWidth(stored) > bitWidth(before);
    return valueHashes(after)[now->index] != valueHashes(*m_plan)[m_value.index];
  }

 private:
  static PinSet both(PinSet a, const PinSet& b) {
    a.insert(b.begin(), b.end());
    return a;
  }

  bool addNode(NodeId node, PinSet& pins) const {
    const auto found = m_byName.find(m_graph.node(node).name);
    if (found != m_byName.end()) pins.insert(found->second);
    return found != m_byName.end();
  }

  /// Adds the nodes next to `value`, which `nodesAt` returns. If a node only moves elements, adds the nodes next to the
  /// values behind it, which `valuesOf` returns.
  template <class NodesAt>
  void addNearest(ValueId value, NodesAt nodesAt, std::vector<ValueId> Node::*valuesOf, PinSet& pins) const {
    std::vector<ValueId> open{value};
    std::set<ValueId> seen;
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (!seen.insert(next).second) continue;
      for (const NodeId node : nodesAt(m_graph.value(next))) {
        if (!node.valid() || addNode(node, pins) || !movesElements(*m_plan, node)) continue;
        for (const ValueId behind : m_graph.node(node).*valuesOf)
          if (behind.valid()) open.push_back(behind);
      }
    }
  }

  /// Adds the node that makes `value`; if that only moves elements, the node that makes its input.
  void addMakers(ValueId value, PinSet& pins) const {
    addNearest(
        value, [](const Value& at) { return std::vector{at.producer}; }, &Node::inputs, pins);
  }

  /// Adds the nodes that read `value`, and those that read what only moves it.
  void addReaders(ValueId value, PinSet& pins) const {
    addNearest(
        value, [](const Value& at) { return at.consumers; }, &Node::outputs, pins);
  }

  std::optional<ValueId> valueIn(const Plan& after) const {
    return after.graph().findValue(m_graph.value(m_value).name);
  }

  std::string effectOf(const Plan& after) const {
    std::vector<std::string> parts;
    const auto changed = [&](const std::string& what, const char* how, DataType before, DataType now) {
      if (before != now) parts.push_back(fmt::format("{} {} in {} instead of {}", what, how, name(now), name(before)));
    };
    if (const auto now = valueIn(after)) {
      changed(m_graph.value(m_value).name, "is stored", m_plan->storedType(m_value), after.storedType(*now));
      const FusedNode* maker = makerOf(after, *now);
      if (maker != nullptr && m_maker.root.valid() && maker->root == m_maker.root)
        changed(m_graph.node(m_maker.root).name, "calculates", m_maker.compute, maker->compute);
    } else {
      parts.push_back(m_graph.value(m_value).name + " is no longer quantised");
    }
    const PlanTotals before = totalsWithoutBodies(*m_plan), now = totalsWithoutBodies(after);
    addDifference(parts, now.fusedNodes - before.fusedNodes, "kernel");
    addDifference(parts, now.casts - before.casts, "cast");
    return joined(parts, "; ");
  }

  /// Describes pins that change only what bodies calculate, and nothing at the value itself.
  static std::string effectInBodies(const Directives& pins) {
    std::vector<std::string> parts;
    for (const Directive& pin : pins) parts.push_back(fmt::format("{} calculates in {}", pin.pattern, name(pin.type)));
    return joined(parts, "; ");
  }

  const std::shared_ptr<const Plan>& m_plan;
  const Graph& m_graph;
  ValueId m_value;
  const FusedNode& m_maker;
  const Pinnable& m_pinnable;
  std::map<std::string, std::uint32_t> m_byName;  ///< ids of pinnable nodes
};

}  // namespace

Result<std::vector<WideFix>> wideFixes(const std::shared_ptr<const Plan>& plan, ValueId value, Harm harm,
                                       const PriceModel* prices, const StopToken& stop) {
  std::vector<WideFix> fixes;
  if (makerOf(*plan, value) == nullptr) return fixes;
  const auto exact = TRY(draftPlan(plan->model, withoutLoweredTypes(plan->options), prices, stop, plan.get()));
  const Pinnable pinnable = TRY(pinnableNodes(*plan, *exact));
  const FixSearch search(plan, value, pinnable);
  for (const PinSet& pins : search.candidates(harm)) {
    TRY(checkStop(stop));
    WideFix fix = TRY(search.planned(pins, prices, stop));
    if (search.changesIt(*fix.plan, harm)) fixes.push_back(std::move(fix));
  }
  return fixes;
}

}  // namespace fusescope
