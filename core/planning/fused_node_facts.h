#pragma once

#include <string>
#include <vector>

#include "planning/cover.h"

namespace fusescope {

/// What "fused:" and the hex digits of its identity name: the same kernel in every plan that has it. Windows and
/// reports keep what they know of a fused node by this, and show its name.
std::string handleOf(const FusedNode& fused);
/// The handle of an identity written as hex digits.
std::string handleOf(const std::string& identity);

/// The distinct types that its nodes calculate in, that of the kernel first; several where a kernel mixes types. Of a
/// kernel that was read back at most the one that its compiler tells.
std::vector<DataType> calculatedTypes(const Cover& cover, const FusedNode& fused);
/// Whether another compiler decides what fuses, the target's own or the one that is chosen, so that this fused node is a
/// prediction: of a plan alone.
bool isPrediction(const Cover& cover, const FusedNode& fused);
/// The inner edge of a value that lives in registers, in a wider type than its kernel calculates in; else null.
const InnerEdge* heldWider(const FusedNode& fused, ValueId value);

}  // namespace fusescope
