#pragma once

#include "interchange/exports.h"
#include "onnxlib/network_edits.h"
#include "planning/plan.h"

namespace fusescope {

/// Returns the quantised codes of a plan (PlanOptions::ranges, weightOnly) as edits of `file`, from which its model was
/// made: QuantizeLinear and DequantizeLinear in the places that calibration/PLACES_OF_CODES.md defines, weights as
/// codes, corrected biases. Nodes that normalisation rewrote are replaced by the rewritten ones if codes are inserted
/// beside them (rewritten_nodes.h). The opset is raised as far as necessary: 13 for a scale per channel, 21 for int4
/// and blocks. Errors: a node that cannot be written because normalisation removed too much of it (the error names it);
/// an operator that would have another meaning at the newer opset.
Result<onnxlib::NetworkEdits> quantizedNetwork(const Plan& plan, const onnxlib::FileModel& file,
                                               std::vector<ExportNote>& notes, const StopToken& stop = {});

/// Returns the options of a plan that quantises, changed for a network that contains the codes already.
PlanOptions withoutCodes(PlanOptions options);

}  // namespace fusescope
