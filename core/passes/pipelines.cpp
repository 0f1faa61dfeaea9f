#include "passes/pipelines.h"

#include <algorithm>

#include "analysis/cost.h"
#include "ir/graph.h"
#include "ir/model.h"
#include "ops/op_schema.h"
#include "ops/type_flow.h"
#include "passes/fit_input_specs.h"
#include "passes/prepare_passes.h"

namespace fusescope {

namespace {

constexpr std::string_view kHolderSource = "holder";

using Choice = ChosenExtents::Choice;

class BodySpecs {
 public:
  explicit BodySpecs(const Model& outer)
      : m_outer(outer), m_least(outer, Choice::Least), m_usual(outer, Choice::Usual), m_most(outer, Choice::Most) {}

  std::vector<InputSpec> of(const ModelBody& body) const {
    const Graph& graph = *body.model->graph;
    const std::vector<ValueId> handed = operands(m_outer.graph->node(body.holder));
    std::vector<InputSpec> specs;
    for (const ValueId input : graph.inputs()) {
      const Value& value = graph.value(input);
      InputSpec spec{.name = value.name, .dtype = value.type.dtype, .source = std::string(kHolderSource)};
      spec.min = extentsOf(value.type, handed, m_least);
      spec.opt = extentsOf(value.type, handed, m_usual);
      spec.max = extentsOf(value.type, handed, m_most);
      specs.push_back(std::move(spec));
    }
    return specs;
  }

 private:
  /// The symbols of a body's inputs are those of the values that its holder reads, from which their values are taken.
  static std::optional<std::int64_t> valueOf(const Dim& dim, const Graph& outer, const std::vector<ValueId>& handed,
                                             const ChosenExtents& extents) {
    for (const ValueId operand : handed) {
      if (!operand.valid()) continue;
      const auto dims = extents.of(operand);
      const std::vector<Dim>& named = outer.value(operand).type.shape.dims;
      for (std::size_t axis = 0; dims && axis < named.size(); ++axis)
        if (named[axis].symbol == dim.symbol) return (*dims)[axis];
    }
    return std::nullopt;
  }

  Dims extentsOf(const TensorType& type, const std::vector<ValueId>& handed, const ChosenExtents& extents) const {
    if (!type.shape.ranked) return {-1};  // not an extent that could be confused with one of the numbers
    Dims dims;
    for (const Dim& dim : type.shape.dims) {
      const bool named = !dim.known() && !dim.symbol.empty();
      const auto known = named ? valueOf(dim, *m_outer.graph, handed, extents) : std::nullopt;
      dims.push_back(dim.known() ? dim.size : known.value_or(-1));
    }
    return dims;
  }

  const Model& m_outer;
  const ChosenExtents m_least, m_usual, m_most;
};

/// Gives the bodies of a prepared model, at every depth, the InputSpecs that follow from those of the model: the
/// extents that are passed to them at its `min`, `opt` and `max`, or -1 where these are unknown. Plans of bodies report
/// their costs at these extents; no input is refused because of them.
void specifyBodyInputs(Model& model) {
  if (model.bodies.empty()) return;
  const BodySpecs specs(model);
  for (ModelBody& body : model.bodies) {
    Model own = *body.model;
    own.inputSpecs = specs.of(body);
    specifyBodyInputs(own);
    body.model = std::make_shared<const Model>(std::move(own));
  }
}

PassManager recipe(Assume assume) {
  PassManager pipeline;
  pipeline
      .add(inlineBranches())        // 1. conditions that depend on constants and known extents alone
      .add(removeIdentities())      // 2. what does nothing by definition
      .add(einsumProducts())        // 3. products that are written as sums over indices
      .add(foldConstants())         // 4. what depends on constants and known extents alone
      .add(dequantizeParameters())  // 5. numbers for kernels that do not read codes
      .add(constantShapes())        // 6. extents that need not be computed
      .add(workOnRows())            // 7. operators on the last axis without views around them
      .add(moveCodes())             // 8. integers for what only moves elements
      .add(removeNoOps())           // 9. what does nothing at these types
      .add(removeDead())            // 10. what no output needs
      .add(copyDequantize())        // 11. integers for every kernel that reads them
      .add(inferTypes(assume))      // 12. a type for every value
      .add(prepareBodies());        // 13. the same for the bodies of If, Loop and Scan
  return pipeline;
}

Result<Model> prepared(Model model, const PassManager& pipeline, const StopToken& stop) {
  const auto records = pipeline.run(model, {}, stop);
  if (records.ok()) return model;
  Diagnostic error = records.error();
  if (error.where.file.empty()) error.where.file = model.path;
  return error;
}

}  // namespace

const PassManager& preparePipeline() {
  static const PassManager kPipeline = recipe(Assume::Conditions);
  return kPipeline;
}

Result<Model> prepareModel(Model imported, const StopToken& stop) {
  Model model = TRY(prepared(std::move(imported), preparePipeline(), stop));
  TRY(fitInputSpecs(model, stop));
  specifyBodyInputs(model);
  return model;
}

Result<Model> prepareBody(Model body, const StopToken& stop) {
  static const PassManager kPipeline = recipe(Assume::Nothing);
  return prepared(std::move(body), kPipeline, stop);
}

Result<Model> withFixedInputs(Model model, const std::map<std::string, Dims>& extents, const StopToken& stop) {
  if (model.unquantized != nullptr) return withFixedInputs(Model(*model.unquantized), extents, stop);
  GraphEditor editor(*model.graph);
  const Graph& graph = *model.graph;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    TensorType type = graph.value(graph.inputs()[i]).type;
    const auto given = extents.find(graph.value(graph.inputs()[i]).name);
    if (given == extents.end()) continue;
    type.shape = Shape::of(given->second);
    editor.setType(graph.inputs()[i], type);
    if (i >= model.inputSpecs.size()) continue;
    InputSpec& spec = model.inputSpecs[i];
    spec.min = spec.opt = spec.max = given->second;
  }
  // Types that were inferred under conditions must not replace types that are computed now.
  for (const NodeId id : graph.order()) {
    if (OpRegistry::standard().find(graph.node(id)) == nullptr) continue;
    for (const ValueId output : graph.node(id).outputs) {
      if (!output.valid()) continue;
      TensorType type = graph.value(output).type;
      type.shape = Shape::unknown();
      editor.setType(output, std::move(type));
    }
  }
  model.graph = TRY(std::move(editor).publish());
  model.conditions.clear();
  model.declaredInputs.clear();
  PassManager infer;
  infer.add(inferTypes()).add(prepareBodies());
  TRY(infer.run(model, {}, stop));
  specifyBodyInputs(model);
  return model;
}

Result<std::vector<TensorType>> inferShapes(const Graph& graph, const std::map<std::string, Dims>& inputs) {
  std::vector<TensorType> types;
  for (const ValueId id : graph.inputs()) {
    const Value& input = graph.value(id);
    types.push_back(input.type);
    const auto given = inputs.find(input.name);
    if (given != inputs.end()) types.back().shape = Shape::of(given->second);
  }
  return TRY(flowTypes(graph, types, {.declared = DeclaredTypes::Fill, .compute = ComputeValues::Small})).types;
}

}  // namespace fusescope
