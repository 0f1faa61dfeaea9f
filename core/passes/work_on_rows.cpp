#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/users.h"
#include "ops/type_flow.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Operators that work on each row of their last axis separately.
constexpr std::array kOfRows{"Softmax", "LogSoftmax", "Hardmax"};

bool isRowwise(const Node& node) {
  return node.domain.empty() && std::ranges::find(kOfRows, node.op) != kOfRows.end() &&
         node.intAttribute("axis", -1) == -1;
}

/// Returns whether the Gemm is x · w (+ c), which MatMul and Add express for any number of rows; c must be one row.
bool isPlainGemm(const Graph& graph, const Node& node) {
  if (!node.is("Gemm") || node.intAttribute("transA", 0) != 0 || node.intAttribute("transB", 0) != 0) return false;
  if (node.floatAttribute("alpha", 1.0F) != 1.0F || node.floatAttribute("beta", 1.0F) != 1.0F) return false;
  if (!node.input(2).valid()) return true;
  const Shape& row = graph.value(node.input(2)).type.shape;
  return row.ranked && row.rank() == 1;
}

class RowWork {
 public:
  RowWork(PassContext& context, std::string_view pass, const TypeFlow& flow)
      : m_context(context), m_graph(context.graph), m_pass(pass), m_flow(flow) {
    for (const NodeId id : m_graph.order())
      for (const ValueId value : valuesRead(m_graph.node(id))) ++m_uses[value];
  }

  /// Returns whether the node is a view that may be before or after the operator.
  static bool isView(const Node& node) {
    return (node.is("Flatten") || node.is("Reshape")) && node.input(0).valid() && !node.outputs.empty() &&
           node.outputs[0].valid();
  }

  /// Removes the views around `node`; returns whether it changed something.
  bool take(const Node& node) {
    const bool gemm = isPlainGemm(m_graph, node);
    if (!gemm && !isRowwise(node)) return false;
    const Node* before = viewBefore(node);
    const Node* after = before == nullptr ? nullptr : viewAfter(node);
    if (after == nullptr || m_removed.contains(before->id) || !keepsRows(*before, *after)) return false;
    m_context.ledger.retire(*after, "normalise.rows_kept", m_pass, {{"node", node.name}});
    m_removed.insert(after->id);
    const ValueId rows = node.outputs[0], result = after->outputs[0];
    m_context.editor.removeNode(after->id);
    m_context.editor.redirectOutput(node.id, rows, result);
    m_context.editor.mutableNode(node.id).inputs[0] = before->input(0);
    m_context.editor.removeValue(rows);
    release(*before, node);
    if (gemm) makeProduct(node, result);
    return true;
  }

 private:
  /// Returns the view that makes the operand of `node`.
  const Node* viewBefore(const Node& node) const {
    if (!node.input(0).valid() || !node.outputs[0].valid()) return nullptr;
    const NodeId producer = m_graph.value(node.input(0)).producer;
    if (!m_graph.has(producer) || !isView(m_graph.node(producer))) return nullptr;
    return &m_graph.node(producer);
  }

  const Node* viewAfter(const Node& node) const {
    if (!hasSingleUse(m_graph, node.outputs[0])) return nullptr;
    const Node& view = m_graph.node(m_graph.value(node.outputs[0]).consumers.front());
    return isView(view) && view.input(0) == node.outputs[0] ? &view : nullptr;
  }

  /// Returns whether the rows of the matrix are rows of the original, and the result has the original extents except
  /// for the length of rows.
  bool keepsRows(const Node& before, const Node& after) const {
    const Shape& from = m_flow.types[before.input(0).index].shape;
    const Shape& matrix = m_flow.types[before.outputs[0].index].shape;
    const Shape& product = m_flow.types[after.input(0).index].shape;
    const Shape& result = m_flow.types[after.outputs[0].index].shape;
    if (!from.ranked || !matrix.ranked || !product.ranked || !result.ranked) return false;
    if (from.rank() == 0 || matrix.rank() == 0 || product.rank() == 0 || from.rank() != result.rank()) return false;
    return std::equal(from.dims.begin(), from.dims.end() - 1, result.dims.begin()) &&
           from.dims.back() == matrix.dims.back() && result.dims.back() == product.dims.back();
  }

  /// `node` does not read `view` any more; if no other node does, the view is removed.
  void release(const Node& view, const Node& node) {
    const ValueId matrix = view.outputs[0];
    if (--m_uses[matrix] > 0 || m_graph.isOutput(matrix)) return;
    m_context.ledger.retire(view, "normalise.rows_kept", m_pass, {{"node", node.name}});
    m_context.editor.removeNode(view.id);
    m_context.editor.removeValue(matrix);
    m_removed.insert(view.id);
  }

  /// result = Gemm(x, w, c)  ⟶  result = Add(MatMul(x, w), c)
  void makeProduct(const Node& gemm, ValueId result) {
    Node& product = m_context.editor.mutableNode(gemm.id);
    const Node was = product;
    product.op = "MatMul";
    product.attributes.clear();
    product.inputs.resize(2);
    if (!was.input(2).valid()) return;
    const ValueId sums = m_context.editor.addValue(was.name + "/product", m_flow.types[result.index]);
    m_context.editor.redirectOutput(gemm.id, result, sums);
    Node sum{.op = "Add", .name = was.name + "/bias", .inputs = {sums, was.input(2)}, .outputs = {result}};
    sum.origins = was.origins;
    m_context.ledger.add(sum, 1);
    m_context.editor.addNode(std::move(sum));
  }

  PassContext& m_context;
  const Graph& m_graph;
  std::string_view m_pass;
  const TypeFlow& m_flow;
  std::map<ValueId, int> m_uses;
  std::set<NodeId> m_removed;  ///< one that stood behind an operator may stand before the next
};

class WorkOnRows : public Pass {
 public:
  std::string_view name() const override { return "work_on_rows"; }

  Result<bool> run(PassContext& context) const override {
    const auto isView = [&](NodeId id) { return RowWork::isView(context.graph.node(id)); };
    if (std::ranges::none_of(context.graph.order(), isView)) return false;
    const TypeFlow flow = TRY(flowTypes(context.graph, inputTypes(context.graph, context.inputSpecs),
                                        {.declared = DeclaredTypes::Fill}, context.stop));
    RowWork work(context, name(), flow);
    bool changed = false;
    for (const NodeId id : context.graph.order()) changed = work.take(context.graph.node(id)) || changed;
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> workOnRows() {
  return std::make_unique<WorkOnRows>();
}

}  // namespace fusescope
