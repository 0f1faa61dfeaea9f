#include <algorithm>

#include "base/float_bits.h"
#include "ops/op_schema.h"
#include "planning/plan.h"
#include "planning/types/type_answers.h"

namespace fusescope {

namespace {

/// Returns whether operand `i` of `node` is an index, an extent or a count.
bool isIndexOperand(const Node& node, std::size_t i) {
  const bool second =
      i == 1 && (node.is("Gather") || node.is("GatherElements") || node.is("GatherND") || node.is("ScatterElements") ||
                 node.is("ScatterND") || node.is("Reshape") || node.is("Expand") || node.is("Tile") || node.is("TopK"));
  return second || (i > 0 && (node.is("Slice") || node.is("Pad") || node.is("Split"))) || node.is("ConstantOfShape") ||
         (i == 0 && node.is("OneHot"));
}

/// Returns the number up to which all integers are represented exactly: 2 to the power of the bits of the significand.
int exactLimit(DataType type) {
  return type == DataType::F16 ? 2048 : type == DataType::BF16 ? 256 : 1 << 24;
}

/// Follows every index back to the floats of which it is made, over elementwise operators and moves.
class IndexWalk {
 public:
  explicit IndexWalk(const Plan& plan) : m_plan(plan), m_graph(plan.graph()), m_index(m_graph.valueIdLimit()) {}

  std::vector<Decision> run() {
    for (auto id = m_graph.order().rbegin(); id != m_graph.order().rend(); ++id) visit(m_graph.node(*id));
    std::ranges::reverse(m_warnings);
    return std::move(m_warnings);
  }

 private:
  /// Returns the node for whose index the value is used, or an invalid id.
  NodeId indexOf(const Node& node) const {
    for (const ValueId value : node.outputs)
      if (value.valid() && m_index[value.index].valid()) return m_index[value.index];
    return {};
  }

  bool passesOn(const Node& node) const {
    const OpSchema* schema = OpRegistry::standard().find(node);
    if (schema == nullptr) return false;
    return schema->kind == OpKind::Elementwise || schema->kind == OpKind::View || schema->kind == OpKind::Movement;
  }

  void mark(ValueId value, NodeId index) {
    if (value.valid() && !m_graph.isConstant(value)) m_index[value.index] = index;
  }

  void visit(const Node& node) {
    const NodeId index = indexOf(node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (isIndexOperand(node, i)) mark(node.inputs[i], node.id);
      if (index.valid() && passesOn(node)) mark(node.inputs[i], index);
    }
    if (!index.valid() || !passesOn(node)) return;
    const DataType type = m_plan.calculates[node.id.index];
    if (type != DataType::F16 && type != DataType::BF16) return;
    if (m_graph.value(node.outputs.front()).type.dtype == type) return;  // the network declares it
    m_warnings.push_back(decide(
        "precision.index_lowered", {Subject::node(node.name)}, "precision",
        {{"index_of", m_graph.node(index).name}, {"type", std::string(name(type))}, {"limit", exactLimit(type)}}));
  }

  const Plan& m_plan;
  const Graph& m_graph;
  std::vector<NodeId> m_index;  ///< by ValueId
  std::vector<Decision> m_warnings;
};

}  // namespace

std::vector<Decision> indexWarnings(const Plan& plan) {
  return IndexWalk(plan).run();
}

}  // namespace fusescope
