#pragma once

#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// Changes `network` for a target that reads strongly typed networks: integers and booleans of the main graph that
/// normalisation has folded, such as axes that a file calculates from a rank, become initializers, and the nodes that
/// calculated only them are removed. TensorRT's parser folds less than normalisation does, and refuses operands that it
/// does not see to be constants. Outputs of the network and values of bodies stay as they are.
void foldForTarget(const Plan& plan, const onnxlib::FileModel& file, TypedNetwork& network);

}  // namespace fusescope
