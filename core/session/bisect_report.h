#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "planning/plan.h"
#include "tuning/culprits.h"

namespace fusescope {

/// The phase of a search for what makes outputs wrong that tells which build is tried next: "build 3".
inline constexpr const char* kBisectPhase = "bisect";

/// What can be switched off of one kind: a compiler's optimisers, our fusion rules, the types of nodes.
struct BisectStage {
  std::string what;                   ///< "optimisers", "fusion rules", "the hint", "types of nodes"
  std::vector<std::string> switches;  ///< as the compiler calls them; of types the nodes
  Culprits found;                     ///< indices of `switches`
};

struct BisectLevel {
  std::string level;
  double error = 0;
};

struct BisectReport {
  CulpritEnd end = CulpritEnd::NoCulprit;
  double before = 0;                 ///< the worst output's error as the plan is; infinite: it holds what is not finite
  std::vector<BisectLevel> levels;   ///< of a compiler that has some, the least first, as far as they were tried
  std::vector<BisectStage> stages;   ///< in the order in which they were tried; a culprit is of the last
  std::vector<std::string> options;  ///< what a command needs besides to leave the culprits out
  std::optional<PlanOptions> without;  ///< the options of the plan with the culprits left out; none: there are none
  std::optional<bool> honoured;  ///< whether the compiler says itself that they were left out; none: it does not say
  std::int64_t builds = 0;
  double seconds = 0;

  const BisectStage* stage() const { return end == CulpritEnd::Found ? &stages.back() : nullptr; }
};

/// The things that were found to make it wrong, as the compiler calls them; none: there is no culprit.
std::vector<std::string> culpritsOf(const BisectReport& report);

/// {end, before, after, what, culprits[], levels[…], stages[…], options[], honoured, builds, seconds}.
Json toJson(const BisectReport& report);
/// The inverse; `plan_options`, where they are there, are BisectReport::without. Errors name the field.
Result<BisectReport> bisectReportFromJson(const Json& json);

/// "0.00225", or "not finite": an error of outputs.
std::string bisectErrorText(double error);
/// What came of switching things off: "right without 1 of them".
std::string inWords(const BisectStage& stage);
/// What the search found, in sentences: the culprit first, and how to leave it out. `tolerance`: the largest error that
/// is right.
std::vector<std::string> inWords(const BisectReport& report, double tolerance);

}  // namespace fusescope
