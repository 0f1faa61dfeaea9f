#include <algorithm>

#include "ops/type_flow.h"
#include "passes/prepare_passes.h"
#include "passes/reshape_operand.h"

namespace fusescope {
namespace {

/// Returns the shape operand of an Expand from `from` to `to`: numbers, and 1 where an extent is kept.
std::optional<Dims> expandOperand(const Shape& from, const Shape& to) {
  Dims entries;
  for (std::size_t i = 0; i < to.rank(); ++i) {
    const Dim& dim = to.dims[i];
    const std::size_t added = to.rank() - std::min(to.rank(), from.rank());
    const bool stays = i >= added && dim == from.dims[i - added];
    if (!dim.known() && !stays) return std::nullopt;
    entries.push_back(dim.known() ? dim.size : 1);
  }
  return entries;
}

class ConstantShapes : public Pass {
 public:
  std::string_view name() const override { return "constant_shapes"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    if (std::ranges::none_of(graph.order(), [&](NodeId id) { return takesShape(graph, graph.node(id)); })) return false;
    // Types that the file only declares are not sufficient to change what is computed.
    const TypeFlow flow =
        TRY(flowTypes(graph, inputTypes(graph, context.inputSpecs), {.declared = DeclaredTypes::Fill}, context.stop));
    bool changed = false;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const auto entries = entriesOf(graph, flow, node);
      if (!entries) continue;
      const Value& shape = graph.value(node.input(1));
      Node& edited = context.editor.mutableNode(id);
      edited.inputs[1] = context.editor.addConstant(shape.name, Tensor::ofInt64(*entries));
      edited.attributes.erase("allowzero");
      context.decisions.push_back(decide("infer.shape_constant", {Subject::node(node.name)}, std::string(name()),
                                         {{"shape", toText(*entries)}}));
      changed = true;
    }
    return changed;
  }

 private:
  /// Returns whether another node determines the extents of this node's result.
  static bool takesShape(const Graph& graph, const Node& node) {
    return (node.is("Reshape") || node.is("Expand")) && node.input(1).valid() && !graph.isConstant(node.input(1)) &&
           !node.outputs.empty() && node.outputs[0].valid();
  }
  static std::optional<Dims> entriesOf(const Graph& graph, const TypeFlow& flow, const Node& node) {
    if (!takesShape(graph, node)) return std::nullopt;
    const Shape& from = flow.types[node.input(0).index].shape;
    const Shape& to = flow.types[node.outputs[0].index].shape;
    if (!from.ranked || !to.ranked) return std::nullopt;
    return node.is("Reshape") ? reshapeOperand(from, to) : expandOperand(from, to);
  }
};

}  // namespace

std::unique_ptr<Pass> constantShapes() {
  return std::make_unique<ConstantShapes>();
}

}  // namespace fusescope
