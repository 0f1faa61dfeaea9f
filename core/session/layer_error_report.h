#pragma once

#include "session/samples.h"
#include "session/session.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// What lowered types do to each tensor of `plan` and each of its fused nodes, on `samples`: against the same model and
/// target in float32 (withoutLoweredTypes()), both on `options.backend`. See measureLayerErrors().
Result<LayerErrorReport> layerErrors(std::shared_ptr<const Plan> plan, const Samples& samples,
                                     const LayerErrorOptions& options);

/// {format "fusescope.errors", samples, random_inputs, against, backend, tensors[…], fused_nodes[…], outputs[…],
/// first_wrong, not_measured[…]}. `plan`: whose errors they are. `outputs` are those of `tensors`
/// that the network gives.
Json toJson(const LayerErrorReport& report, const Plan& plan, const Samples& samples, const LayerErrorOptions& options);

}  // namespace fusescope
