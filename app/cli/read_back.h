#pragma once

#include "planning/read_back_plan.h"

namespace fusescope::cli {

/// Prints for people what another compiler made of a network: its kernels, the fates of nodes without a kernel,
/// conversions, pins, refused nodes, and how well our prediction agrees.
void printReadBack(const ReadBackPlan& made);

/// Prints a sentence for each type that the user asked for and in which floats are not calculated, because the target
/// does not have it or the compiler chose another one. `before` begins each sentence.
void printTypesNotGiven(const Cover& cover, std::string_view before = {});

}  // namespace fusescope::cli
