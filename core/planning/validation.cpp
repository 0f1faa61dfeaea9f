#include "planning/steps.h"

namespace fusescope {

namespace {

/// The types of a node's inputs and outputs as they would be after a truncation.
struct NodeTypes {
  std::vector<TensorType> storage;
  std::vector<const TensorType*> inputs, outputs;
};

template <class TypeOf>
NodeTypes typesOf(const Graph& graph, const Node& node, const TypeOf& typeOf) {
  NodeTypes types;
  types.storage.reserve(node.inputs.size() + node.outputs.size());
  const auto add = [&](const std::vector<ValueId>& values, std::vector<const TensorType*>& pointers) {
    for (ValueId value : values) {
      if (!value.valid()) {
        pointers.push_back(nullptr);
        continue;
      }
      types.storage.push_back(graph.value(value).type);
      types.storage.back().dtype = typeOf(value);
      pointers.push_back(&types.storage.back());
    }
  };
  add(node.inputs, types.inputs);
  add(node.outputs, types.outputs);
  return types;
}

class NodeValidator {
 public:
  NodeValidator(const Graph& graph, const Target& target, const DirectiveMap& directives, const Truncation& truncation)
      : m_graph(graph), m_target(target), m_directives(directives), m_truncation(truncation) {}

  Decision verdict(const Node& node) const {
    Decision plain = validateAs(node, [&](ValueId value) { return m_truncation.types[value.index]; });
    if (plain.allowed || plain.code != "validate.type_not_supported") return plain;
    if (const Value* constant = refusedConstant(node)) {
      return decide("validate.constant_not_truncated", plain.subjects, m_target.name,
                    {{"op", node.op},
                     {"target", m_target.name},
                     {"type", std::string(name(constant->type.dtype))},
                     {"value", constant->name}});
    }
    for (TruncateMode mode : {TruncateMode::Long, TruncateMode::Double, TruncateMode::All}) {
      if (!widens(mode) || !wouldSupport(node, mode)) continue;
      Json arguments = plain.arguments;
      arguments["mode"] = std::string(name(mode));
      arguments["help"] = "truncation";
      return decide("validate.needs_truncation", plain.subjects, m_target.name, std::move(arguments));
    }
    return plain;
  }

 private:
  template <class TypeOf>
  Decision validateAs(const Node& node, const TypeOf& typeOf) const {
    const NodeTypes types = typesOf(m_graph, node, typeOf);
    return validateNode(m_target, m_graph, node, types.inputs, types.outputs);
  }

  const Value* refusedConstant(const Node& node) const {
    for (ValueId value : node.inputs) {
      if (value.valid() && m_truncation.refused[value.index]) return &m_graph.value(value);
    }
    return nullptr;
  }

  /// Whether `mode` narrows all that the chosen mode narrows, and more: changing to it takes nothing back.
  bool widens(TruncateMode mode) const {
    return m_directives.truncate == TruncateMode::None ||
           (mode == TruncateMode::All && m_directives.truncate != TruncateMode::All);
  }

  bool wouldSupport(const Node& node, TruncateMode mode) const {
    return validateAs(node,
                      [&](ValueId value) { return truncatedType(m_target, mode, m_graph.value(value).type.dtype); })
        .allowed;
  }

  const Graph& m_graph;
  const Target& m_target;
  const DirectiveMap& m_directives;
  const Truncation& m_truncation;
};

}  // namespace

std::vector<Decision> validateNodes(const Graph& graph, const Target& target, const DirectiveMap& directives,
                                    const Truncation& truncation) {
  const NodeValidator validator(graph, target, directives, truncation);
  std::vector<Decision> verdicts;
  verdicts.reserve(graph.nodeCount());
  for (NodeId id : graph.order()) verdicts.push_back(validator.verdict(graph.node(id)));
  return verdicts;
}

}  // namespace fusescope
