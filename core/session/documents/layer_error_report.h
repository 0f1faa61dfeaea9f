#pragma once

#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/samples.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// The reference with which lowered types are compared.
enum class ErrorsAgainst { F32, F64 };
std::string_view name(ErrorsAgainst against);               ///< "f32", "f64"
const std::vector<std::string_view>& errorsAgainstNames();  ///< all names, in order

/// Measures the errors that lowered types cause in each tensor and fused node of `plan` on `samples`: against the same
/// model and target in float32 (withoutLoweredTypes()), both on `options.backend`, or against the network in double
/// precision. See measureLayerErrors().
Result<LayerErrorReport> layerErrors(std::shared_ptr<const Plan> plan, const Samples& samples,
                                     const LayerErrorOptions& options, ErrorsAgainst against = ErrorsAgainst::F32);
/// Measures the same with the compiler of `artifact`. Results of another compiler are compared with float32 on our own
/// engine; see carriedErrors().
Result<LayerErrorReport> layerErrors(const Artifact& artifact, const Samples& samples, const LayerErrorOptions& options,
                                     ErrorsAgainst against = ErrorsAgainst::F32);

/// What can be reported about tensors inside a network that another compiler runs.
struct InnerErrorsNote {
  bool outputsAlone = false;  ///< true: only outputs can be compared
  std::string words;          ///< a sentence that says what is compared, and how; empty: the compiler returns inner
                              ///< values
};
InnerErrorsNote innerErrorsNote(const Compiler& compiler, const LayerErrorReport& report);
/// Adds {inside, outputs_alone} to `json`; both are null if the compiler returns inner values.
void addInside(Json& json, const Compiler& compiler, const LayerErrorReport& report);

/// Returns {format "fusescope.errors", samples, random_inputs, against, backend, tensors[…], fused_nodes[…],
/// outputs[…], first_wrong, not_measured[…], not_in_double[…]} for the errors of `plan`. If another compiler made the
/// fused nodes, `fused_nodes` are those of LayerErrorReport::made. `outputs` are those of `tensors` that are outputs of
/// the network.
Json toJson(const LayerErrorReport& report, const Plan& plan, const Samples& samples, const LayerErrorOptions& options,
            ErrorsAgainst against = ErrorsAgainst::F32);

}  // namespace fusescope
