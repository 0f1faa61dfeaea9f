#pragma once

#include <QString>

#include "ui/document/run_controller.h"

namespace fusescope {

/// What the button "Build" does with the plan on screen.
struct BuildStep {
  /// The compiler that is chosen and builds, because our own only plans for the target. Null: the chosen one builds.
  const Compiler* other = nullptr;
  QString words;         ///< "Build this plan", "Build with tensorrt-rtx"
  bool timesIt = false;  ///< whether the run that it makes can be timed
  QString refusal;       ///< why it cannot be done now, as a sentence; empty if it can
};
BuildStep buildStep(const PlanDocument& document, const RunController& controller);

/// Does the step, if it is not refused.
void buildByStep(const PlanDocument& document, RunController& controller);

}  // namespace fusescope
