#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interchange/checked_numbers.h"
#include "planning/plan.h"
#include "tuning/plan_runner.h"

namespace fusescope {

/// Whether the network of a plan still gives its numbers after it was exported.
struct ExportedCheck {
  bool ok = true;                           ///< the error is within the limit, or unknown
  std::optional<CheckedNumbers> numbers{};  ///< nothing if they could not be determined
  std::string whyNot{};  ///< why it cannot be exported; empty if it can, or if the error exceeds the limit
  /// Returns the larger of the network's errors on the reference and on the engine.
  double error() const;
};

/// Exports the network of `plan` as `export --to onnx` does, to a temporary folder, and checks that its error on
/// `samples` is at most `most`. It is an error if `stop` was requested, or if the folder cannot be made.
Result<ExportedCheck> checkExported(const Plan& plan, const std::vector<PlanRunner::Inputs>& samples, double most,
                                    const StopToken& stop);

}  // namespace fusescope
