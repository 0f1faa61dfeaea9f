#pragma once

#include <string>

#include "planning/plan.h"
#include "tests/mutation/dice.h"

namespace fusescope::property {

/// What was looked at.
struct KernelCounts {
  std::size_t kernels = 0, unknown = 0, native = 0;
};

/// Runs the fused nodes one after the other, each on what those before it left (or on random values where that has
/// grown without bound), and compares what the reference makes of it with emulate(); `native`: also every tactic of the
/// native backend over plain layouts. Returns what differs, or nothing.
std::string checkKernels(const Plan& plan, mutation::Dice& dice, bool native, KernelCounts& counts);

/// Whether the reference's engine of `plan`, which lowers nothing, gives what running the nodes one by one gives.
std::string checkEngine(const std::shared_ptr<const Plan>& plan, mutation::Dice& dice);

}  // namespace fusescope::property
