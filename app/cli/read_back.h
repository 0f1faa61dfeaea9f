#pragma once

#include "planning/read_back_plan.h"

namespace fusescope::cli {

/// Prints for people what another compiler made of a network: its kernels, the fates of nodes without a kernel,
/// conversions, pins, refused nodes, and how well our prediction agrees.
void printReadBack(const ReadBackPlan& made);

/// Prints a sentence if the compiler calculates floats in another type than the user asked for.
void printGrantedHint(const ReadBackPlan& made);

}  // namespace fusescope::cli
