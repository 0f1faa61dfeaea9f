#pragma once

#include <string>

#include "engine/engine.h"
#include "engine/program/adaptive_run.h"
#include "engine/steps/body_profile.h"

namespace fusescope {

/// Returns why times of a program would be meaningless on this machine: which types are emulated, and where. The result
/// is empty if the times are meaningful.
std::string emulationReason(const Plan& plan, const Program& program);

/// Runs `program`, whose inputs and outputs are bound, repeatedly and reports how long a run takes. `profile` receives
/// the times of its bodies.
Result<TimeReport> measureLatency(AdaptiveRun& program, const Engine& engine, BodyProfile& profile,
                                  const TimeOptions& options);

}  // namespace fusescope
