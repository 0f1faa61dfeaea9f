#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes the plan's network with the plan's types (typed_network/typed_network.h) and checks it: our own plan of the
/// result must store each value in the same type. If there are samples, its outputs must be within the tolerance from
/// float32, both on the reference with every value between two nodes stored and on our engine. Otherwise nodes around
/// edges that the plan keeps wider calculate in f32, and notes say so; if that does not help, Exported::doesNotHold is
/// set. The difference from the plan is reported too.
Result<Exported> writeOnnx(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
