#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// The plan's network with the plan's types written into it (typed_network/typed_network.h), checked: our own reading
/// of it stores each value at the same type. With samples its outputs are within the tolerance from float32, on the
/// reference with every value between two nodes stored and as our engine runs it; else nodes around edges that the plan
/// holds wider calculate in f32, and notes say so, or it does not hold. How far it is from the plan is told.
Result<Exported> writeOnnx(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
