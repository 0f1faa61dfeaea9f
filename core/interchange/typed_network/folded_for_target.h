#pragma once

#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// Adds to `network`, for a target that reads strongly typed networks: integers and booleans of the main graph that
/// normalisation knows, as axes that a file calculates of a rank, are initializers, and what only they were calculated
/// of goes. TensorRT's parser folds less, and refuses operands that are no constants to it. What the network gives, and
/// what bodies make, stays.
void foldForTarget(const Plan& plan, const onnxlib::FileModel& file, TypedNetwork& network);

}  // namespace fusescope
