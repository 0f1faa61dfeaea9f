#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/stop.h"
#include "planning/directives_file.h"
#include "tuning/exported_search.h"
#include "tuning/plan_evaluator.h"
#include "tuning/tune_search.h"

namespace fusescope {

/// Called before a set of pins is run, with the names of its nodes and the number of sets that were run before.
using OnTry = std::function<void(const std::vector<std::string>& nodes, std::int64_t evaluations)>;

struct TuneOptions {
  TuneGoal goal;
  EvaluatorOptions evaluator;  ///< what runs the network, and what can stop it
  /// File of evaluations, which is read if it exists and written during the search; empty: none.
  std::filesystem::path stateFile;
  bool explain = false;  ///< determines the effect of each pin even if a limit ended the search
  OnBetter onBetter{};   ///< called in the working thread
  OnTry onTry{};         ///< called in the working thread
  Progress progress{};
};

/// A pin that the search chose.
struct TunePin {
  Directive directive;                         ///< its note says why the pin is needed
  std::optional<TuneResult::Without> without;  ///< nothing if it was not tried
};

struct TuneReport {
  TuneResult result;
  std::vector<TunePin> pins;  ///< the pins of result.chosen
  PlanOptions options;        ///< the options of the lowered plan, with the pins added after its directives
  Directives nodes;           ///< a pin for each node that could be pinned; TunePoint::pins are indices into it
  std::string backend;
  std::size_t pinnable = 0, groups = 0;
  /// The check of the result; nothing if there was none, or if it was cancelled.
  std::optional<ExportedCheck> exported;
  std::optional<double> searchLimit;  ///< the largest allowed error in the last search; see ExportedSearch
  /// Whether the file was written at the end; if it cannot be written at the beginning, tune() fails.
  Status stateWritten = Done{};
  double seconds = 0;
};

/// Finds the pins with which `lowered`, a plan without them, meets the goal on `samples`. tuneSearch() describes the
/// search, and PlanEvaluator the errors. If errors are of all outputs and not of a metric, the network with the pins
/// must also meet the largest error after it is exported; otherwise the search continues. `prices` may be null; costs
/// are then conversions and bytes. If it is stopped, it returns the best result so far. Errors are those of the
/// evaluator and of the state file; it is also an error if the goal asks for nothing, or asks for a speed-up and times
/// are unknown.
Result<TuneReport> tune(const std::shared_ptr<const Plan>& lowered, std::vector<PlanRunner::Inputs> samples,
                        const PriceModel* prices, const TuneOptions& options);

}  // namespace fusescope
