#include "planning/types/verify_types.h"

#include <algorithm>
#include <map>
#include <set>

#include "planning/directives/directive_form.h"
#include "planning/fusion/match.h"
#include "planning/types/typing.h"

namespace fusescope {

namespace {

class TypeVerifier {
 public:
  explicit TypeVerifier(const Plan& plan) : m_plan(plan), m_graph(plan.graph()), m_structure(*plan.structure) {}

  Status run() {
    collectPinned();
    collectRefused();
    TRY(checkCancelling());
    TRY(checkObeyed());
    return checkStored();
  }

 private:
  Diagnostic broken(std::string message, const std::string& node, const std::string& value) const {
    return {.message = "plan: " + std::move(message),
            .where = {.file = m_plan.model->path, .node = node, .value = value}};
  }
  std::string nameOf(ValueId value) const { return m_graph.value(value).name; }
  bool moves(NodeId node) const { return m_structure.facts[node.index].moves; }
  bool accelerated(NodeId node) const { return m_structure.accelerated[node.index] != 0; }
  DataType truncated(ValueId value) const { return m_structure.truncation.types[value.index]; }

  /// Collects the values that have a type from a directive.
  void collectPinned() {
    for (const DirectiveAnswer& answer : m_plan.answers) {
      const bool holds = answer.outcome == DirectiveOutcome::Stored || answer.outcome == DirectiveOutcome::Inner;
      if (!holds || !answer.value || !answer.value->bodies.isNetwork()) continue;
      const auto value = m_graph.findValue(answer.value->name);
      if (const Directive* asked = findDirective(m_plan, answer.directive); value && asked != nullptr)
        m_pinned[*value] = asked->type;
    }
  }

  bool isFree(ValueId value) const {
    const NodeId producer = m_graph.value(value).producer;
    return producer.valid() && !hasBody(m_graph.node(producer)) && accelerated(producer) &&
           isExchangeable(truncated(value));
  }

  DataType made(ValueId value) {
    if (!isFree(value)) return m_graph.value(value).type.dtype;
    if (const auto known = m_made.find(value); known != m_made.end()) return known->second;
    const Node& node = m_graph.node(m_graph.value(value).producer);
    DataType type = DataType::Undefined;
    if (!moves(node.id)) {
      const bool asDeclared = leavesAnotherType(m_structure.facts[node.id.index], truncated(value));
      type = asDeclared ? truncated(value) : m_plan.calculates[node.id.index];
    } else if (!isFloatCast(m_graph, node)) {
      DataType given = DataType::Undefined;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (!carries(node, i) || m_graph.isConstant(node.inputs[i])) continue;
        DataType& into = m_plan.structure->uncalculated[node.inputs[i].index] ? given : type;
        into = widest(into, madeOrTruncated(node.inputs[i]));
      }
      if (type == DataType::Undefined) type = given;
    }
    return m_made[value] = isExchangeable(type) ? type : truncated(value);
  }

  DataType madeOrTruncated(ValueId value) {
    const DataType type = made(value);
    return isExchangeable(type) ? type : truncated(value);
  }

  /// Returns whether operand `i` has floats that are passed on to the result.
  bool carries(const Node& node, std::size_t i) const {
    return node.inputs[i].valid() && isDataOperand(node, i) && isExchangeable(truncated(node.inputs[i]));
  }

  DataType wanted(ValueId value) {
    if (const auto known = m_wanted.find(value); known != m_wanted.end()) return known->second;
    const DataType own = m_graph.value(value).type.dtype;
    DataType type = m_graph.isOutput(value) ? own : DataType::Undefined;
    for (const NodeId id : m_graph.value(value).consumers) {
      const Node& reader = m_graph.node(id);
      const bool inBody = std::ranges::find(reader.inputs, value) == reader.inputs.end();
      if (inBody) type = widest(type, own);
      for (std::size_t i = 0; i < reader.inputs.size(); ++i)
        if (reader.inputs[i] == value) type = widest(type, wantedBy(reader, i));
    }
    return m_wanted[value] = type;
  }

  DataType wantedBy(const Node& reader, std::size_t i) {
    const DataType own = m_graph.value(reader.inputs[i]).type.dtype;
    if (!accelerated(reader.id)) return own;
    const bool chooses = isDataOperand(reader, i) && isExchangeable(truncated(reader.inputs[i]));
    if (!chooses) return truncated(reader.inputs[i]);
    if (readsExtentsOnly(reader)) return DataType::Undefined;
    if (!moves(reader.id)) {
      const DataType type = m_plan.calculates[reader.id.index];
      if (reader.is("Cast")) return own;
      return isExchangeable(type) ? type : truncated(reader.inputs[i]);
    }
    if (rounds(m_graph, reader)) {
      const bool readsHalf = isNarrow(truncated(reader.input(0))) && isNarrow(made(reader.input(0)));
      return readsHalf ? made(reader.input(0)) : ruled(reader.outputs.front());
    }
    DataType type = DataType::Undefined;
    for (const ValueId result : reader.outputs) {
      if (!result.valid()) continue;
      const auto pinned = m_pinned.find(result);
      const bool carried = isFree(result) && !isFloatCast(m_graph, reader);
      const DataType here = carried ? narrower(made(result), wanted(result)) : wanted(result);
      type = widest(type, widest(pinned != m_pinned.end() ? pinned->second : DataType::Undefined, here));
    }
    return type == DataType::Undefined && isFloatCast(m_graph, reader) ? truncated(reader.outputs.front()) : type;
  }

  DataType ruled(ValueId value) {
    if (const auto pinned = m_pinned.find(value); pinned != m_pinned.end()) return pinned->second;
    if (isFloatCast(m_graph, m_graph.node(m_graph.value(value).producer))) return truncated(value);
    return narrower(made(value), wanted(value));
  }

  Status checkStored() {
    // The nodes are visited in graph order first, so that later questions only recurse to neighbours.
    for (const NodeId id : m_graph.order())
      for (const ValueId value : m_graph.node(id).outputs)
        if (value.valid()) made(value);
    for (auto id = m_graph.order().rbegin(); id != m_graph.order().rend(); ++id)
      for (const ValueId value : m_graph.node(*id).outputs)
        if (value.valid()) wanted(value);
    for (const FusedNode& fused : m_plan.fusedNodes)
      for (const FusedOutput& output : fused.outputs) {
        if (!isFree(output.value) || output.type == ruled(output.value)) continue;
        return broken("an edge is stored at " + std::string(name(output.type)) + " where the rule says " +
                          std::string(name(ruled(output.value))),
                      {}, nameOf(output.value));
      }
    return Done{};
  }

  /// Collects which directives were refused, and at which places.
  void collectRefused() {
    for (const DirectiveAnswer& answer : m_plan.answers) {
      const bool isNo = answer.outcome == DirectiveOutcome::Refused || answer.outcome == DirectiveOutcome::Nothing ||
                        answer.outcome == DirectiveOutcome::Overridden;
      if (!isNo) continue;
      for (const Subject& subject : answer.about) m_refused.emplace(answer.directive, subject.text());
    }
  }

  Status obeyed(NodeId id, const Directive& pin) const {
    const std::string& node = m_graph.node(id).name;
    if (m_plan.calculates[id.index] == pin.type || m_refused.contains({causeOf(pin), node})) return Done{};
    return broken("'" + causeOf(pin).text() + "' says obey; the node does not calculate in " +
                      std::string(name(pin.type)) + ", and no decision refuses it",
                  node, {});
  }

  Status checkObeyed() const {
    const auto isObey = [](const Directive& directive) {
      return formOf(directive).asks == RequestedType::Calculated && directive.strictness == Strictness::Obey;
    };
    for (const PrecisionGrant& grant : m_plan.precisionMap)
      if (const Directive* pin = findDirective(m_plan, grant.by); pin != nullptr && isObey(*pin))
        TRY(obeyed(grant.node, *pin));
    for (const Directive& directive : m_plan.options.directives)
      if (const auto node = m_graph.findNode(directive.pattern); node && isObey(directive))
        TRY(obeyed(*node, directive));
    return Done{};
  }

  /// Returns the conversion of `value` from `from` to `to`, or null.
  const PlannedCast* conversion(ValueId value, DataType from, DataType to) const {
    const auto [first, last] = m_casts.equal_range(value);
    const auto found = std::find_if(
        first, last, [&](const auto& entry) { return entry.second->from == from && entry.second->to == to; });
    return found == last ? nullptr : found->second;
  }

  /// Returns whether `node` moves the elements of a single value whose type the planner may choose.
  bool movesOne(const Node& node, ValueId value) const {
    if (!moves(node.id) || !accelerated(node.id) || isFloatCast(m_graph, node)) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (carries(node, i) && node.inputs[i] != value) return false;
    return node.input(0) == value;
  }

  /// Returns the first value, reached from `start` through moves of elements in `type`, that is converted back to
  /// `back`.
  std::optional<ValueId> convertedBack(ValueId start, DataType type, DataType back) const {
    std::vector<ValueId> pending{start};
    std::set<ValueId> seen;
    while (!pending.empty()) {
      const ValueId value = pending.back();
      pending.pop_back();
      for (const NodeId id : m_graph.value(value).consumers) {
        const Node& node = m_graph.node(id);
        if (!movesOne(node, value)) continue;
        for (const ValueId result : node.outputs) {
          if (!result.valid() || m_pinned.contains(result) || !seen.insert(result).second) continue;
          if (conversion(result, type, back) != nullptr) return result;
          pending.push_back(result);
        }
      }
    }
    return std::nullopt;
  }

  Status checkCancelling() {
    for (const PlannedCast& cast : m_plan.casts) m_casts.emplace(cast.value, &cast);
    for (const PlannedCast& cast : m_plan.casts) {
      if (m_pinned.contains(cast.value) || !isExchangeable(cast.from) || !isExchangeable(cast.to)) continue;
      if (const auto end = convertedBack(cast.value, cast.to, cast.from))
        return broken("two conversions cancel: " + nameOf(cast.value) + " to " + std::string(name(cast.to)) + ", and " +
                          nameOf(*end) + " back to " + std::string(name(cast.from)),
                      {}, nameOf(cast.value));
    }
    return Done{};
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const Structure& m_structure;
  std::map<ValueId, DataType> m_pinned, m_made, m_wanted;
  std::multimap<ValueId, const PlannedCast*> m_casts;
  std::set<std::pair<Cause, std::string>> m_refused;  ///< by directive and node's name
};

}  // namespace

Status verifyTypes(const Plan& plan) {
  return plan.structure == nullptr ? Status(Done{}) : TypeVerifier(plan).run();
}

}  // namespace fusescope
