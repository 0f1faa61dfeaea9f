#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interchange/checked_numbers.h"
#include "planning/plan.h"
#include "tuning/plan_runner.h"
#include "tuning/tune_search.h"

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

/// Exports the network with these pins and checks it. A cancellation ends the search.
using CheckExported = std::function<Result<ExportedCheck>(const PinSet& pins)>;

struct ExportedSearch {
  TuneResult result;
  std::optional<double> searchLimit{};  ///< the largest allowed error in the last search, at most that of the goal
  /// The check of result.chosen; nothing if there was none, or if it was cancelled.
  std::optional<ExportedCheck> exported{};
};

/// Runs tuneSearch() for a goal with a largest error, which the result must also meet after it is exported. If a set
/// does not meet it, the next search allows a smaller error, until a set meets it or several did not. The goal's time
/// limit is for all searches together; the set that is known when it is reached is still checked, within another time
/// of the same length.
Result<ExportedSearch> tuneSearchExported(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory,
                                          const OnBetter& onBetter, const CheckExported& check);

}  // namespace fusescope
