#include <array>

#include "planning/steps.h"
#include "target/node_types.h"

namespace fusescope {

namespace {

class NodeValidator {
 public:
  NodeValidator(const Graph& graph, const Target& target, const DirectiveMap& directives, const Truncation& truncation)
      : m_graph(graph), m_target(target), m_directives(directives), m_truncation(truncation) {}

  Decision verdict(const Node& node) {
    Decision plain = validateWith(node, m_truncation);
    if (!refusesAType(plain)) return plain;
    if (auto wide = constantStaysWide(node, plain)) return *wide;
    for (TruncateMode mode : {TruncateMode::Long, TruncateMode::Double, TruncateMode::All}) {
      if (!widens(mode) || !validateWith(node, truncationOf(mode)).allowed) continue;
      Json arguments = plain.arguments;
      arguments["mode"] = std::string(name(mode));
      arguments["help"] = "truncation";
      return decide("validate.needs_truncation", plain.subjects, m_target.name, std::move(arguments));
    }
    if (!widens(TruncateMode::All)) return plain;
    // No mode mends it. What stands in the way under the widest says more than a type that it would narrow.
    Decision whatever = validateWith(node, truncationOf(TruncateMode::All));
    return refusesAType(whatever) ? plain : whatever;
  }

 private:
  Decision validateWith(const Node& node, const Truncation& truncation) const {
    const NodeTypes types = typesOf(m_graph, node, [&](ValueId value) { return truncation.types[value.index]; });
    return validateNode(m_target, m_graph, node, types.inputs, types.outputs,
                        [&](const Subgraph& body, ValueId value) { return truncation.typeInside(body, value); });
  }

  static bool refusesAType(const Decision& verdict) {
    return verdict.code == "validate.type_not_supported" ||
           (verdict.code == "validate.body_not_supported" &&
            verdict.arguments["inner_code"] == "validate.type_not_supported");
  }

  /// A constant that could not be narrowed and that stands in the way: its name and why; nothing if none does.
  std::optional<std::pair<std::string, std::string>> wideConstant(const Node& node, const Decision& plain) const {
    const std::string value = plain.arguments["value"].get<std::string>();
    const auto inside = m_truncation.whyRefused.find({node.id, value});
    if (inside != m_truncation.whyRefused.end()) return std::pair(value, inside->second);
    for (const ValueId operand : operands(node)) {
      if (!operand.valid() || m_truncation.refused[operand.index] == 0) continue;
      const std::string& constant = m_graph.value(operand).name;
      if (hasBody(node) && constant != value) continue;  // what a body reads of it has its name
      return std::pair(constant, m_truncation.whyRefused.at({NodeId(), constant}));
    }
    return std::nullopt;
  }

  std::optional<Decision> constantStaysWide(const Node& node, const Decision& plain) const {
    const auto wide = wideConstant(node, plain);
    if (!wide) return std::nullopt;
    const Decision of = decide("validate.constant_not_truncated", plain.subjects, m_target.name,
                               {{"op", node.op},
                                {"target", m_target.name},
                                {"type", plain.arguments["type"]},
                                {"value", wide->first},
                                {"why", wide->second}});
    if (plain.code != "validate.body_not_supported") return of;
    Decision body = plain;
    body.arguments["inner_code"] = of.code;
    body.arguments["reason"] = message(of);
    return body;
  }

  /// Whether `mode` narrows all that the chosen mode narrows, and more: changing to it takes nothing back.
  bool widens(TruncateMode mode) const {
    const TruncateModes& chosen = m_directives.truncate;
    const auto keeps = [&](DataType type) {
      return narrows(mode, type) || !(narrows(chosen.inputs, type) || narrows(chosen.constants, type));
    };
    return chosen != TruncateModes::both(mode) && keeps(DataType::I64) && keeps(DataType::F64);
  }

  /// What another mode would make of the graph, found once.
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

std::vector<Decision> validateNodes(const Graph& graph, const Target& target, const DirectiveMap& directives,
                                    const Truncation& truncation) {
  NodeValidator validator(graph, target, directives, truncation);
  std::vector<Decision> verdicts;
  verdicts.reserve(graph.nodeCount());
  for (NodeId id : graph.order()) verdicts.push_back(validator.verdict(graph.node(id)));
  return verdicts;
}

}  // namespace fusescope
