#pragma once

#include <memory>

#include "compilers/compiler.h"

namespace fusescope {

/// `plan` as `compiler` answers: what it refuses falls back. A plan that holds its answers already, and one of a
/// compiler that takes whole networks, is given back as it is. Errors: the compiler could not be asked; cancellation.
Result<std::shared_ptr<const Plan>> planSupported(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                                  const StopToken& stop, const Progress& progress = {});

/// Compiles the network of `plan`. What the compiler refuses, when it is asked or only when it compiles, runs on our
/// own engine, and the plan of the result says so for each node; the build goes on. Errors: those of our own engine,
/// and cancellation.
Result<std::unique_ptr<Engine>> compileNetwork(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                               const BuildOptions& options);

}  // namespace fusescope
