#pragma once

#include "backends/native/region_facts.h"

namespace fusescope::native {

/// Whether a tape holds elements of this type as they are, besides codes of 8 bits and int32.
bool isTapeType(DataType type);
/// Whether the node can be an instruction of a tape (tape.h).
bool isPointwise(const RegionFacts& region, const Node& node);
/// The same for QuantizeLinear and DequantizeLinear: scales and zero points must be constants, one number, or one for
/// each index of an axis.
bool isTapeQuantization(const RegionFacts& region, const Node& node);

/// What a tape multiplies by or adds (`isShift`) per channel for a BatchNormalization of constants.
Packing batchNormPacking(const RegionFacts& region, const Node& norm, bool isShift);

}  // namespace fusescope::native
