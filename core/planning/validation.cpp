#include <array>

#include "planning/steps.h"
#include "target/node_types.h"

namespace fusescope {

namespace {

class NodeValidator {
 public:
  NodeValidator(const Graph& graph, const Target& target, const DirectiveMap& directives, const Truncation& truncation)
      : m_graph(graph), m_target(target), m_directives(directives), m_truncation(truncation) {}

  NodeVerdict verdict(const Node& node) {
    NodeVerdict plain{validateWith(node, m_truncation)};
    if (!plain.refusedType) return plain;
    if (auto wide = constantStaysWide(node, plain)) return *std::move(wide);
    for (TruncateMode mode : {TruncateMode::Long, TruncateMode::Double, TruncateMode::All}) {
      if (!widens(mode) || !validateWith(node, truncationOf(mode)).supported) continue;
      DecisionArguments arguments = plain.why.arguments;
      arguments["mode"] = std::string(name(mode));
      arguments["help"] = "truncation";
      plain.why = decide("validate.needs_truncation", plain.why.subjects, m_target.name, std::move(arguments));
      plain.truncation = mode;
      return plain;
    }
    if (!widens(TruncateMode::All)) return plain;
    // No mode helps. What prevents acceptance under the widest mode says more than a type that it would narrow.
    NodeVerdict whatever{validateWith(node, truncationOf(TruncateMode::All))};
    return whatever.refusedType ? plain : whatever;
  }

 private:
  TargetVerdict validateWith(const Node& node, const Truncation& truncation) const {
    const NodeTypes types = typesOf(m_graph, node, [&](ValueId value) { return truncation.types[value.index]; });
    return validateNode(m_target, m_graph, node, types.inputs, types.outputs,
                        [&](const Subgraph& body, ValueId value) { return truncation.typeInside(body, value); });
  }

  /// Returns a constant that could not be narrowed and that prevents acceptance: its name and the reason; nothing if
  /// there is none.
  std::optional<std::pair<std::string, std::string>> wideConstant(const Node& node, const std::string& value) const {
    const auto inside = m_truncation.whyRefused.find({node.id, value});
    if (inside != m_truncation.whyRefused.end()) return std::pair(value, inside->second);
    for (const ValueId operand : operands(node)) {
      if (!operand.valid() || m_truncation.refused[operand.index] == 0) continue;
      const std::string& constant = m_graph.value(operand).name;
      // Inside a body, the constant has the name of the captured value.
      if (hasBody(node) && constant != value) continue;
      return std::pair(constant, m_truncation.whyRefused.at({NodeId(), constant}));
    }
    return std::nullopt;
  }

  std::optional<NodeVerdict> constantStaysWide(const Node& node, const NodeVerdict& plain) const {
    const auto wide = wideConstant(node, plain.refusedType->value);
    if (!wide) return std::nullopt;
    const Decision of = decide("validate.constant_not_truncated", plain.why.subjects, m_target.name,
                               {{"op", node.op},
                                {"target", m_target.name},
                                {"type", plain.refusedType->type},
                                {"value", wide->first},
                                {"why", wide->second}});
    NodeVerdict refused = plain;
    if (!plain.inside) {
      refused.why = of;
      refused.equivalent.clear();
      return refused;
    }
    refused.why.arguments["inner_code"] = of.code;
    refused.why.arguments["reason"] = message(of);
    return refused;
  }

  /// Returns whether `mode` narrows everything that the current mode narrows, and more, so that a change to it loses
  /// nothing.
  bool widens(TruncateMode mode) const {
    const TruncateModes& chosen = m_directives.truncate;
    const auto keeps = [&](DataType type) {
      return narrows(mode, type) || !(narrows(chosen.inputs, type) || narrows(chosen.constants, type));
    };
    return chosen != TruncateModes::both(mode) && keeps(DataType::I64) && keeps(DataType::F64);
  }

  /// Returns the truncation of the graph under another mode, which is computed once.
  const Truncation& truncationOf(TruncateMode mode) {
    std::optional<Truncation>& entry = m_others[static_cast<std::size_t>(mode)];
    if (!entry) entry = planTruncation(m_graph, m_target, TruncateModes::both(mode));
    return *entry;
  }

  const Graph& m_graph;
  const Target& m_target;
  const DirectiveMap& m_directives;
  const Truncation& m_truncation;
  std::array<std::optional<Truncation>, 4> m_others;  ///< by TruncateMode
};

}  // namespace

std::vector<NodeVerdict> validateNodes(const Graph& graph, const Target& target, const DirectiveMap& directives,
                                       const Truncation& truncation) {
  NodeValidator validator(graph, target, directives, truncation);
  std::vector<NodeVerdict> verdicts;
  verdicts.reserve(graph.nodeCount());
  for (NodeId id : graph.order()) verdicts.push_back(validator.verdict(graph.node(id)));
  return verdicts;
}

}  // namespace fusescope
