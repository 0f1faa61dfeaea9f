#pragma once

#include "engine/engine.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::cli {

/// Prints for people what another compiler made of a network: its kernels, the fates of nodes without a kernel,
/// conversions, pins, refused nodes, and how well our prediction agrees.
void printReadBack(const ReadBackPlan& made);

/// Prints a table of the types that were asked of nodes, and what the compiler did with them. It prints nothing if none
/// were.
void printPins(const ReadBackPlan& made);

/// Prints a sentence for each type that the user asked for and in which floats are not calculated, because the target
/// does not have it or the compiler chose another one.
void printTypesNotGiven(const Cover& cover);

/// Prints the same about an engine that was opened, and what of it came from the store of kept answers or was kept
/// there. `before` begins each sentence.
void printRemarksAboutEngine(const Engine& engine, std::string_view before = {});

}  // namespace fusescope::cli
