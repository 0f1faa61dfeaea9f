#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interchange/checked_numbers.h"
#include "planning/plan.h"
#include "tuning/plan_runner.h"

namespace fusescope {

/// What becomes of a plan's numbers where its network is exported.
struct ExportedCheck {
  bool ok = true;                           ///< within the limit, or it cannot be told
  std::optional<CheckedNumbers> numbers{};  ///< nothing: it cannot be told
  std::string whyNot{};                     ///< why it cannot be exported; empty: it can, or it is beyond the limit
  /// The larger error of the network on the reference and on the engine.
  double error() const;
};

/// Makes the network of `plan` as `export --to onnx` does, in a folder that goes again, and checks it on `samples`: its
/// error may be `most`. Errors: cancelled; no folder can be made.
Result<ExportedCheck> checkExported(const Plan& plan, const std::vector<PlanRunner::Inputs>& samples, double most,
                                    const StopToken& stop);

}  // namespace fusescope
