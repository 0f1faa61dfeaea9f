#pragma once

#include "planning/read_back_plan.h"

namespace fusescope::cli {

/// What another compiler made of a network, for people: kernels, what became of nodes without one, conversions, pins,
/// what was refused, and how well our prediction holds.
void printReadBack(const ReadBackPlan& made);

/// A sentence where the compiler calculates floats in another type than was asked for.
void printGrantedHint(const ReadBackPlan& made);

}  // namespace fusescope::cli
