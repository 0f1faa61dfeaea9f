#pragma once

#include "interchange/exports.h"
#include "onnxlib/network_edits.h"
#include "planning/plan.h"

namespace fusescope {

/// The codes of a quantised plan (PlanOptions::ranges, weightOnly) as edits of `file`, which its model was made of:
/// QuantizeLinear and DequantizeLinear where calibration/WHERE_CODES_STAND.md puts them, weights as codes, corrected
/// biases. Nodes that normalisation wrote as others are replaced by these where codes are to stand beside them
/// (rewritten_nodes.h). The opset is raised to what is needed: 13 for a scale of each channel, 21 for int4 and blocks.
/// Errors: a node that normalisation left too little of to write it (by its name); an operator that would not mean the
/// same at the newer opset.
Result<onnxlib::NetworkEdits> quantizedNetwork(const Plan& plan, const onnxlib::FileModel& file,
                                               std::vector<ExportNote>& notes, const StopToken& stop = {});

/// Options of a plan that quantises, for a network that has its codes already.
PlanOptions withoutCodes(PlanOptions options);

}  // namespace fusescope
