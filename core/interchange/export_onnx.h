#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// The plan's network with the plan's types written into it (typed_network/typed_network.h), checked: our own reading
/// of it stores each value at the same type, and with samples its numbers, every value between nodes stored, are those
/// of the plan within the tolerance; else nodes around edges that the plan holds wider calculate in f32, and notes say
/// so, or it does not hold.
Result<Exported> writeOnnx(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
