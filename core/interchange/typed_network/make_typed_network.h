#pragma once

#include "base/result.h"
#include "interchange/typed_network/typed_network.h"
#include "onnxlib/onnxlib.h"
#include "planning/plan.h"

namespace fusescope {

/// Writes the types of `plan` into `file`, from which it was made: each node's float operands get the type in which it
/// calculates, and each value in memory gets its stored type. Nodes that move elements have the type of the moved
/// value. If the opset of the file does not allow a type and a newer one does, the opset is raised (opset_raising.h).
/// Errors: a node for which this is impossible, with its operator.
Result<TypedNetwork> typedNetwork(const Plan& plan, const onnxlib::FileModel& file, const TypedNetworkOptions& options);

}  // namespace fusescope
