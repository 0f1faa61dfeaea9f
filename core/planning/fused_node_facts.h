#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "planning/cover.h"

namespace fusescope {

/// Returns "fused:" followed by the hex digits of the identity, which refer to the same kernel in every plan that has
/// it. Windows and reports use it as the key of a fused node, and show the node's name.
std::string handleOf(const FusedNode& fused);
/// Returns the handle for an identity in hex digits.
std::string handleOf(const std::string& identity);

/// Returns the distinct types in which its nodes calculate, that of the kernel first. There are several if the kernel
/// mixes types. For a kernel that was read back, it is at most the one type that the compiler reports.
std::vector<DataType> calculatedTypes(const Cover& cover, const FusedNode& fused);
/// Returns whether this fused node is a prediction, because another compiler (the target's or the selected one) decides
/// what is fused. This is possible only in a Plan.
bool isPrediction(const Cover& cover, const FusedNode& fused);
/// Returns the inner edge of `value` if it exists only in registers, in a wider type than the kernel calculates in;
/// otherwise null.
const InnerEdge* keptInWiderType(const FusedNode& fused, ValueId value);

}  // namespace fusescope
