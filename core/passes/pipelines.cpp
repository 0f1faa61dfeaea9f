#include "passes/pipelines.h"

#include "ops/type_flow.h"
#include "passes/fit_input_specs.h"
#include "passes/prepare_passes.h"

namespace fusescope {

const PassManager& preparePipeline() {
  static const PassManager kPipeline = [] {
    PassManager pipeline;
    pipeline
        .add(takeBranches())      // 1. conditions that depend on constants and known extents alone
        .add(removeIdentities())  // 2. what does nothing by definition
        .add(foldConstants())     // 3. what depends on constants and known extents alone
        .add(removeNoOps())       // 4. what does nothing at these types
        .add(removeDead())        // 5. what no output needs
        .add(copyDequantize())    // 6. integers for every kernel that reads them
        .add(inferTypes())        // 7. a type for every value
        .add(prepareBodies());    // 8. the same for the bodies of If, Loop and Scan
    return pipeline;
  }();
  return kPipeline;
}

Result<Model> prepareModel(Model imported, const StopToken& stop) {
  const auto records = preparePipeline().run(imported, {}, stop);
  if (!records.ok()) {
    Diagnostic error = records.error();
    if (error.where.file.empty()) error.where.file = imported.path;
    return error;
  }
  TRY(fitInputSpecs(imported, stop));
  return imported;
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
