#pragma once

#include "base/stop.h"
#include "ir/model.h"
#include "passes/pass.h"

namespace fusescope {

/// Normalise, then infer: what depends on the model alone. No-ops removed, constants folded (reference kernels; a
/// weight's DequantizeLinear stays), equal constants kept apart; every value typed from the InputSpecs. Then extents
/// that the file leaves open are assumed (fitInputSpecs()), and bodies are told what that is inside them.
/// Each origin node removed or merged has a decision of kind normalise. Idempotent and deterministic.
Result<Model> prepareModel(Model imported, const StopToken& stop = {});

/// The same for a body of a node, of which nothing is assumed: no extents, and no condition on them.
Result<Model> prepareBody(Model body, const StopToken& stop = {});

/// The steps of prepareModel(), by name: what tests skip or stop at.
const PassManager& preparePipeline();

/// A prepared model for just these extents of its inputs: types that hold without conditions. Its nodes stay as they
/// are; of a quantised one: those that it was quantised from.
Result<Model> withFixedInputs(Model model, const std::map<std::string, Dims>& extents, const StopToken& stop = {});

/// Types of all values of a prepared model's graph for concrete extents of its inputs: what an engine is specialised
/// by. Index = ValueId. Values that shape functions need are computed with the reference kernels where inputs allow.
Result<std::vector<TensorType>> inferShapes(const Graph& graph, const std::map<std::string, Dims>& inputs);

}  // namespace fusescope
