#pragma once

#include "base/stop.h"
#include "ir/model.h"
#include "passes/pass.h"

namespace fusescope {

class Graph;

/// Normalises the model and infers its types: everything that depends on the model alone. No-ops are removed, constants
/// are folded with the reference kernels (except DequantizeLinear of weights), equal constants are kept separate, and
/// every value gets a type from the InputSpecs. Then open extents are assumed (fitInputSpecs()), and bodies get the
/// extents that follow from them. Each node of the file that is removed or merged has a decision of kind normalise.
/// Idempotent and deterministic.
Result<Model> prepareModel(Model imported, const StopToken& stop = {});

/// Does the same for a body of a node, without assuming extents or conditions on them.
Result<Model> prepareBody(Model body, const StopToken& stop = {});

/// Returns the passes of prepareModel(), so that tests can skip some or stop after one.
const PassManager& preparePipeline();

/// Returns a prepared model for exactly these extents of its inputs; its types are right without conditions. Its nodes
/// are unchanged; for a quantised model, the result is of the model that it was quantised from.
Result<Model> withFixedInputs(Model model, const std::map<std::string, Dims>& extents, const StopToken& stop = {});

/// Infers the types of all values of a prepared model's graph, by ValueId, for known extents of its inputs; engines are
/// specialised with them. Values on which shapes depend are computed with the reference kernels if possible.
Result<std::vector<TensorType>> inferShapes(const Graph& graph, const std::map<std::string, Dims>& inputs);

}  // namespace fusescope
