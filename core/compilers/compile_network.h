#pragma once

#include <memory>

#include "compilers/compiler.h"

namespace fusescope {

/// Returns the plan about which a compiler that answers itself what it accepts is asked: the table of the target, which
/// only predicts this answer, keeps no node from it. What the user keeps from it still falls back.
Result<std::shared_ptr<const Plan>> planToAsk(std::shared_ptr<const Plan> plan, const StopToken& stop);

/// Asks `compiler` which nodes of `plan` it refuses, and returns the plan in which these fall back, and only these: its
/// answer takes the place of what the table of the target predicts. A recorded answer cannot do so, because nodes that
/// the table refuses were not packed; they still fall back. A plan that contains the compiler's answers already is
/// returned unchanged, and so is the plan of a compiler that takes whole networks or cannot be asked. Errors: the
/// compiler could not be asked; cancellation.
Result<std::shared_ptr<const Plan>> planSupported(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                                  const StopToken& stop, const Progress& progress = {});

/// Compiles the network of `plan`. Nodes that the compiler refuses, when it is asked or only while it compiles, run on
/// our own engine; the plan of the result says so for each of them, and the build continues. Errors: those of our own
/// engine, and cancellation.
Result<std::unique_ptr<Engine>> compileNetwork(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                               const BuildOptions& options);

}  // namespace fusescope
