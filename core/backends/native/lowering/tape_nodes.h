#pragma once

#include "backends/native/lowering/region_facts.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Returns whether a tape can process elements of this type directly, besides 8-bit codes and int32.
bool isTapeType(DataType type);
/// Returns whether the node can be an instruction of a tape (tape.h).
bool isPointwise(const RegionFacts& region, const Node& node);
/// Returns the same for QuantizeLinear and DequantizeLinear: scales and zero points must be constants, with one number,
/// or one for each index of an axis.
bool isTapeQuantization(const RegionFacts& region, const Node& node);

/// Packs what a tape multiplies by, or adds (`isShift`), for each channel of a BatchNormalization with constant
/// parameters.
Packing batchNormPacking(const RegionFacts& region, const Node& norm, bool isShift);

}  // namespace fusescope::native
