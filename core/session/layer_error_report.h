#pragma once

#include "session/samples.h"
#include "session/session.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// What lowered types are held against.
enum class ErrorsAgainst { F32, F64 };
std::string_view name(ErrorsAgainst against);               ///< "f32", "f64"
const std::vector<std::string_view>& errorsAgainstNames();  ///< in their order

/// What lowered types do to each tensor of `plan` and each of its fused nodes, on `samples`: against the same model and
/// target in float32 (withoutLoweredTypes()), both on `options.backend`, or against the network in double precision.
/// See measureLayerErrors().
Result<LayerErrorReport> layerErrors(std::shared_ptr<const Plan> plan, const Samples& samples,
                                     const LayerErrorOptions& options, ErrorsAgainst against = ErrorsAgainst::F32);
/// The same by the compiler of `artifact`. What another than ours gives is held against float32 on our own engine, see
/// carriedErrors().
Result<LayerErrorReport> layerErrors(const Artifact& artifact, const Samples& samples, const LayerErrorOptions& options,
                                     ErrorsAgainst against = ErrorsAgainst::F32);

/// What is told of tensors inside a network that another compiler runs.
struct InsideTold {
  bool outputsAlone = false;  ///< nothing is
  std::string words;          ///< a sentence: what is told, and how; empty: the compiler hands out what is inside
};
InsideTold insideTold(const Compiler& compiler, const LayerErrorReport& report);
/// Adds {inside, outputs_alone} to `json`: both null where the compiler hands out what is inside.
void addInside(Json& json, const Compiler& compiler, const LayerErrorReport& report);

/// The network of `plan` in float32 on our own engine.
Result<std::unique_ptr<Engine>> exactEngine(const Plan& plan, const BuildOptions& options);

/// {format "fusescope.errors", samples, random_inputs, against, backend, tensors[…], fused_nodes[…], outputs[…],
/// first_wrong, not_measured[…], not_in_double[…]}. `plan`: whose errors they are; `fused_nodes` are those of
/// LayerErrorReport::made, where another compiler made them. `outputs` are those of `tensors` that the network gives.
Json toJson(const LayerErrorReport& report, const Plan& plan, const Samples& samples, const LayerErrorOptions& options,
            ErrorsAgainst against = ErrorsAgainst::F32);

}  // namespace fusescope
