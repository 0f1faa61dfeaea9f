#include "ops/body_flow.h"
#include "passes/contradictions.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

Result<bool> applyTypes(GraphEditor& editor, const TypeFlow& flow, std::vector<Decision>& decisions);

/// Returns the body in `attribute` of `node` with the types that it gets. Returns null if it has them already, or if it
/// cannot work with these types; it is then a branch that is not taken.
Result<std::shared_ptr<const Graph>> typedBody(const Node& node, const std::string& attribute, const TypeFlow& flow,
                                               std::vector<Decision>& decisions) {
  std::vector<const TensorType*> types;
  std::vector<const Tensor*> constants;
  for (const ValueId id : operands(node)) {
    types.push_back(id.valid() ? &flow.types[id.index] : nullptr);
    constants.push_back(id.valid() ? flow.known[id.index].get() : nullptr);
  }
  const auto inner = flowBody(node, attribute, types, constants);
  if (!inner.ok()) return std::shared_ptr<const Graph>();
  recordContradictions(node, attribute, inner.value(), decisions);
  GraphEditor editor(*std::get<Subgraph>(node.attributes.at(attribute)).graph);
  const bool changed = TRY(applyTypes(editor, inner.value(), decisions));
  if (!changed) return std::shared_ptr<const Graph>();
  return std::move(editor).publish();
}

/// Sets the types of all values that `flow` found, including those in bodies. Returns whether any type changed.
Result<bool> applyTypes(GraphEditor& editor, const TypeFlow& flow, std::vector<Decision>& decisions) {
  const Graph& graph = editor.current();
  bool changed = false;
  for (const ValueId id : graph.allValues()) {
    const TensorType& type = flow.types[id.index];
    if (graph.isConstant(id) || type == graph.value(id).type) continue;
    editor.setType(id, type);
    changed = true;
  }
  for (const NodeId id : graph.order()) {
    for (auto& [key, attribute] : editor.mutableNode(id).attributes) {
      auto* subgraph = std::get_if<Subgraph>(&attribute);
      auto typed = subgraph == nullptr ? nullptr : TRY(typedBody(graph.node(id), key, flow, decisions));
      if (typed == nullptr) continue;
      subgraph->graph = std::move(typed);
      changed = true;
    }
  }
  return changed;
}

class InferTypes : public Pass {
 public:
  explicit InferTypes(Assume assume) : m_assume(assume) {}
  std::string_view name() const override { return "infer_types"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    const std::vector<TensorType> inputs = inputTypes(graph, context.inputSpecs);
    const TypeFlow flow =
        TRY(flowTypes(graph, inputs, {.assumeEqual = m_assume == Assume::Conditions, .conditions = context.conditions},
                      context.stop));
    record(context, flow);
    const bool contradicted = settleContradictions(context, flow);
    return TRY(applyTypes(context.editor, flow, context.decisions)) || contradicted;
  }

 private:
  static void record(PassContext& context, const TypeFlow& flow) {
    const std::vector<ExtentCondition>& conditions = flow.conditions;
    if (conditions.empty()) return;
    if (context.declaredInputs.empty()) context.declaredInputs = flow.inputs;
    for (std::size_t i = context.conditions.size(); i < conditions.size(); ++i) {
      const ExtentCondition& condition = conditions[i];
      context.decisions.push_back(decide(condition.demanded ? "infer.demand" : "infer.condition",
                                         {Subject::node(condition.node)}, "infer_types",
                                         {{"condition", condition.text()}}));
      context.conditions.push_back(condition);
    }
  }

  Assume m_assume;
};

}  // namespace

std::unique_ptr<Pass> inferTypes(Assume assume) {
  return std::make_unique<InferTypes>(assume);
}

/// Fixes an axis for which the user or the file's metadata allow only one extent.
static void fixAxes(const InputSpec& spec, Shape& shape) {
  if (spec.source != "user" && spec.source != "metadata") return;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (spec.min[axis] >= 0 && spec.min[axis] == spec.max[axis]) shape.dims[axis] = Dim(spec.min[axis]);
}

std::vector<TensorType> inputTypes(const Graph& graph, const std::vector<InputSpec>& specs) {
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    TensorType type = graph.value(graph.inputs()[i]).type;
    if (i < specs.size()) {
      if (specs[i].dtype != DataType::Undefined) type.dtype = specs[i].dtype;
      const bool isTensor = type.container == Container::None;
      if (isTensor && specs[i].fixed() && (type.shape.ranked || specs[i].source == "user"))
        type.shape = Shape::of(specs[i].min);
      else if (isTensor && type.shape.ranked && specs[i].min.size() == type.shape.rank())
        fixAxes(specs[i], type.shape);
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace fusescope
