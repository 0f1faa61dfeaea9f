#include "interchange/typed_network/node_roles.h"

#include <algorithm>

#include "frontends/onnx/node_order.h"
#include "frontends/onnx/unique_names.h"
#include "ops/op_schema.h"
#include "planning/structure.h"
#include "planning/types/typing.h"

namespace fusescope {
namespace {

using Role = FileNodeTypes::Role;

bool hasBody(const onnxlib::FileNode& node) {
  return std::ranges::any_of(node.attributes, [](const onnxlib::FileAttribute& attribute) {
    return std::holds_alternative<std::shared_ptr<const onnxlib::FileGraph>>(attribute.value);
  });
}

/// Returns whether the operator makes, changes or reads sequences or optionals: no kernel of ours has them in other
/// types.
bool holdsContainers(const onnxlib::FileNode& node) {
  return node.op.starts_with("Sequence") || node.op.starts_with("Optional") || node.op == "SplitToSequence" ||
         node.op == "ConcatFromSequence";
}

/// Returns whether the operator hands elements on as they are. (Dropout is one where nobody trains.)
bool movesElements(const onnxlib::FileNode& node) {
  if (node.domain.empty() && node.op == "Dropout") return true;
  const OpSchema* schema = OpRegistry::standard().find(node.domain, node.op);
  const bool moves = schema != nullptr && (schema->kind == OpKind::Movement || schema->kind == OpKind::View);
  const auto* reduction = node.attribute("reduction");
  const auto* how = reduction == nullptr ? nullptr : std::get_if<std::string>(&reduction->value);
  return moves && node.op != "BitCast" && (how == nullptr || *how == "none");
}

}  // namespace

std::vector<std::string> uniqueNodeNames(const onnxlib::FileGraph& graph) {
  UniqueNames unique;
  std::vector<std::string> names;
  for (const onnxlib::FileNode& node : graph.nodes) names.push_back(unique.take(node.displayName()));
  return names;
}

NodeRoles::NodeRoles(const onnxlib::FileModel& file, const onnxlib::FileGraph& graph, const Plan* plan, bool main)
    : m_file(file), m_graph(graph), m_plan(plan), m_nodes(graph.nodes.size()) {
  if (plan == nullptr) return;
  std::map<std::string, std::size_t> placeOf;
  const std::vector<std::string> names = uniqueNodeNames(graph);
  for (std::size_t i = 0; i < names.size(); ++i) placeOf.emplace(names[i], i);
  for (const NodeId id : plan->graph().order()) {
    for (const OriginId origin : plan->graph().node(id).origins) {
      std::size_t place = origin.index;
      if (!main) {  // a body's origins are what import made of its nodes
        const auto found = placeOf.find(plan->model->origins[origin.index].name);
        if (found == placeOf.end()) continue;
        place = found->second;
      }
      if (place < m_nodes.size()) m_nodes[place].push_back(id);
    }
  }
}

bool NodeRoles::isCall(const onnxlib::FileNode& node) const {
  return std::ranges::any_of(m_file.functions, [&](const onnxlib::FileFunction& function) {
    return function.domain == node.domain && function.name == node.op;
  });
}

FileNodeTypes NodeRoles::of(std::size_t place) const {
  const onnxlib::FileNode& node = m_graph.nodes[place];
  FileNodeTypes types{.nodes = m_nodes[place]};
  if (m_plan == nullptr) return types;
  DataType calculated = DataType::Undefined;
  bool lowered = false, quantised = false, moved = !types.nodes.empty();
  for (const NodeId id : types.nodes) {
    const NodeFacts& facts = m_plan->structure->facts[id.index];
    const DataType type = m_plan->calculates[id.index];
    const FusedNode& fused = *m_plan->fusedNodeOf(id);
    if (!types.fused.valid() || !facts.moves) types.fused = fused.id;
    moved = moved && facts.moves;
    quantised = quantised || type == DataType::I8 ||
                (m_plan->calculates[fused.root.index] == DataType::I8 && !m_plan->readsMemory(id));
    if (!facts.floats || facts.moves || !isExchangeable(type)) continue;
    calculated = widest(calculated, type);
    lowered = lowered || type != facts.natural;
  }
  if (hasBody(node)) {
    if (lowered) types.keptBecause = "its branch was chosen when the network was prepared";
    return types;
  }
  const bool known = node.domain.empty() && !isCall(node) && OpRegistry::standard().find("", node.op) != nullptr;
  if (!known) {
    if (lowered)
      types.keptBecause = isCall(node) ? "it calls a function of the file"
                                       : "what types " + node.domain + "::" + node.op + " takes is not known";
    return types;
  }
  if (node.op == "Shape" || node.op == "Size") {
    types.role = Role::AnyType;
  } else if (node.op == "Cast") {
    types.role = Role::FloatCast;
  } else if (node.op == "CastLike" || node.op == "BitCast") {
    types.role = Role::AsDeclared;  // what they give depends on the very types of what they read
  } else if (holdsContainers(node)) {
    types.role = Role::AsDeclared;
  } else if (quantised) {
    types.role = Role::AsDeclared;  // a kernel of codes, and what it holds: the file's own Q/DQ stand around it
  } else if (moved || (types.nodes.empty() && movesElements(node))) {
    types.role = Role::Moves;
  } else if (isExchangeable(calculated)) {
    types.role = Role::Calculates;
    types.reads = types.runs = calculated;
  }
  return types;
}

}  // namespace fusescope
