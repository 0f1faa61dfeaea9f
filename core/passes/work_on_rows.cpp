#include <algorithm>
#include <array>
#include <set>

#include "analysis/users.h"
#include "ops/type_flow.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Operators that work on each row of their last axis alone.
constexpr std::array kOfRows{"Softmax", "LogSoftmax", "Hardmax"};

class WorkOnRows : public Pass {
 public:
  std::string_view name() const override { return "work_on_rows"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    const TypeFlow flow =
        TRY(flowTypes(graph, inputTypes(graph, context.inputSpecs), {.declared = DeclaredTypes::Fill}, context.stop));
    std::set<NodeId> removed;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const Node* before = viewBefore(graph, node);
      const Node* after = before == nullptr ? nullptr : viewAfter(graph, node);
      if (after == nullptr || !keepsRows(flow, *before, *after)) continue;
      if (removed.contains(before->id)) continue;  // what stood behind the one before
      for (const Node* view : {before, after})
        context.ledger.retire(*view, "normalise.rows_kept", name(), {{"node", node.name}});
      const ValueId matrix = before->outputs[0], rows = node.outputs[0], result = after->outputs[0];
      context.editor.removeNode(after->id);
      context.editor.redirectOutput(id, rows, result);
      context.editor.mutableNode(id).inputs[0] = before->input(0);
      context.editor.removeNode(before->id);
      context.editor.removeValue(matrix);
      context.editor.removeValue(rows);
      removed.insert({before->id, after->id});
    }
    return !removed.empty();
  }

 private:
  static bool isView(const Node& node) {
    return (node.is("Flatten") || node.is("Reshape")) && node.input(0).valid() && node.outputs[0].valid();
  }

  /// The view that makes what `node`, an operator on rows, reads; null if others read it too.
  static const Node* viewBefore(const Graph& graph, const Node& node) {
    const bool ofRows = node.domain.empty() && std::ranges::find(kOfRows, node.op) != kOfRows.end();
    if (!ofRows || node.intAttribute("axis", -1) != -1 || !node.input(0).valid() || !node.outputs[0].valid())
      return nullptr;
    const NodeId producer = graph.value(node.input(0)).producer;
    if (!graph.has(producer) || !hasSingleUse(graph, node.input(0))) return nullptr;
    const Node& view = graph.node(producer);
    return isView(view) ? &view : nullptr;
  }

  static const Node* viewAfter(const Graph& graph, const Node& node) {
    if (!hasSingleUse(graph, node.outputs[0])) return nullptr;
    const Node& view = graph.node(graph.value(node.outputs[0]).consumers.front());
    return isView(view) && view.input(0) == node.outputs[0] ? &view : nullptr;
  }

  /// The rows of the matrix are those of what becomes one, and the result has its extents.
  static bool keepsRows(const TypeFlow& flow, const Node& before, const Node& after) {
    const Shape& from = flow.types[before.input(0).index].shape;
    const Shape& matrix = flow.types[before.outputs[0].index].shape;
    const Shape& result = flow.types[after.outputs[0].index].shape;
    return from.ranked && matrix.ranked && from.rank() > 0 && matrix.rank() > 0 && from == result &&
           from.dims.back() == matrix.dims.back();
  }
};

}  // namespace

std::unique_ptr<Pass> workOnRows() {
  return std::make_unique<WorkOnRows>();
}

}  // namespace fusescope
