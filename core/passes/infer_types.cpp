#include "passes/prepare_passes.h"
#include "passes/type_flow.h"

namespace fusescope {
namespace {

class InferTypes : public Pass {
 public:
  std::string_view name() const override { return "infer_types"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    const TypeFlow flow = TRY(flowTypes(graph, inputTypes(graph, context.inputSpecs), {}, context.stop));
    bool changed = false;
    for (const ValueId id : graph.allValues()) {
      const TensorType& type = flow.types[id.index];
      if (graph.isConstant(id) || type == graph.value(id).type) continue;
      context.editor.setType(id, type);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> inferTypes() {
  return std::make_unique<InferTypes>();
}

std::vector<TensorType> inputTypes(const Graph& graph, const std::vector<InputSpec>& specs) {
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    TensorType type = graph.value(graph.inputs()[i]).type;
    if (i < specs.size()) {
      if (specs[i].dtype != DataType::Undefined) type.dtype = specs[i].dtype;
      if (specs[i].fixed() && (type.shape.ranked || specs[i].source == "user")) type.shape = Shape::of(specs[i].min);
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace fusescope
