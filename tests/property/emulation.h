#pragma once

#include <optional>
#include <vector>

#include "planning/plan.h"
#include "tests/property/arrays.h"

namespace fusescope::property {

/// What `fused` leaves in memory, by the rounding rule alone: a value is rounded where it stands in memory, to its
/// stored type; where a node reads it from memory, to what the node calculates in; and where the contract narrows an
/// inner edge. Moves and Casts between floats pass on what they read. Of the plan only what is stored, read and
/// calculated at which type is used. `inputs` as FusedNode::inputs, at the types they are stored at. Nothing if it holds
/// an operator that is not known here, or picks what is not there.
/// `noise`: 0, or a seed by which each result of a node is off by a few ulp of float32: what a value near a tie or a sum
/// that cancels may turn into.
std::optional<std::vector<Array>> emulate(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs,
                                          std::uint64_t noise);

/// What a kernel may leave, and how far others that follow the rule may be from it.
struct Expected {
  std::vector<Array> outputs;
  std::vector<Array> spread;  ///< infinite where it may be anything
};
std::optional<Expected> expect(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs);

}  // namespace fusescope::property
