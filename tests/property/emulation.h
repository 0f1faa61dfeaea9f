#pragma once

#include <optional>
#include <vector>

#include "planning/plan.h"
#include "tests/property/arrays.h"

namespace fusescope::property {

/// What `fused` leaves in memory, by the rounding rule alone: a value is rounded where it stands in memory, to its
/// stored type; where a node reads it from memory, to what the node calculates in; and where the contract narrows an
/// inner edge, as a Cast of the author does. Moves pass on what they read. Of the plan only what is stored, read and
/// calculated at which type is used. `inputs` as FusedNode::inputs, at the types they are stored at. Nothing if it
/// holds an operator that is not known here, or picks what is not there. `noise`: 0, or a seed by which each result of
/// a node is off by a few ulp of float32: what a value near a tie or a sum that cancels may turn into.
std::optional<std::vector<Array>> emulate(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs,
                                          std::uint64_t noise);

/// What a kernel may leave.
struct Expected {
  std::vector<Array> outputs;
  std::vector<Array> spread;  ///< how far others that follow the rule may be from it; infinite: it may be anything
  bool isSpread = false;      ///< findSpread() was asked; else it is 0
};
std::optional<Expected> expect(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs);
/// Fills `expected.spread` from many variants with noise. Costs as many emulations: for what seems wrong.
void findSpread(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs, Expected& expected);

}  // namespace fusescope::property
