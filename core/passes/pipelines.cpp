#include "passes/pipelines.h"

#include "ops/op_schema.h"
#include "ops/type_flow.h"
#include "passes/body_input_specs.h"
#include "passes/fit_input_specs.h"
#include "passes/prepare_passes.h"

namespace fusescope {

namespace {

PassManager recipe(Assume assume) {
  PassManager pipeline;
  pipeline
      .add(takeBranches())          // 1. conditions that depend on constants and known extents alone
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
