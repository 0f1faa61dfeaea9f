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

/// A set of pins is about to be run: names of its nodes, and how many sets were run before.
using OnTry = std::function<void(const std::vector<std::string>& nodes, std::int64_t evaluations)>;

struct TuneOptions {
  TuneGoal goal;
  EvaluatorOptions evaluator;       ///< with what runs, and what may stop it
  std::filesystem::path stateFile;  ///< of evaluations, read if it is there and written as the search goes; empty: none
  bool explain = false;             ///< what each pin is for is found out even where a limit ended the search
  OnBetter onBetter{};              ///< called from the working thread
  OnTry onTry{};                    ///< likewise
  Progress progress{};
};

/// A pin that the search chose.
struct TunePin {
  Directive directive;                         ///< its note says why it is there
  std::optional<TuneResult::Without> without;  ///< nothing: not tried
};

struct TuneReport {
  TuneResult result;
  std::vector<TunePin> pins;  ///< of result.chosen
  PlanOptions options;        ///< those of the lowered plan, with the pins behind its directives
  Directives nodes;           ///< a pin of each node that could be pinned: what TunePoint::pins count
  std::string backend;
  std::size_t pinnable = 0, groups = 0;
  std::optional<ExportedCheck> exported;  ///< of what was found; nothing: it was not asked, or it was ended
  std::optional<double> heldTo;           ///< the largest error of the last search: ExportedSearch
  Status stateWritten = Done{};  ///< at the end; what could not be written at the beginning is an error of tune()
  double seconds = 0;
};

/// Finds the pins under which `lowered`, a plan that was made without them, meets the goal on `samples`: see
/// tuneSearch() for how, PlanEvaluator for what an error is. A set of pins whose network, exported, is beyond the
/// largest error is no answer, and the search goes on (where errors are of all outputs, and not by a metric). `prices`
/// may be null: costs are conversions and bytes then. Stopped, it gives the best so far. Errors: those of the evaluator
/// and of the state file; a goal that asks for nothing, or for a speed-up where times are not known.
Result<TuneReport> tune(const std::shared_ptr<const Plan>& lowered, std::vector<PlanRunner::Inputs> samples,
                        const PriceModel* prices, const TuneOptions& options);

}  // namespace fusescope
