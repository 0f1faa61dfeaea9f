#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// The exported program (.pt2) of the network with PyTorch's casts around the nodes that the plan lowers
/// (frontends/torch/program_casts.h). All else in the file keeps its bytes. Needs the network that torch made of the
/// program (`fusescope import`), whose nodes know the program's. Errors: the plan is of another file, quantises, lowers
/// nothing, or lowers to two types.
Result<Exported> writePt2(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
