#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"
#include "tuning/culprits.h"

namespace fusescope {

/// The phase of a search for what makes outputs wrong. Its detail says which build is next: "build 3".
inline constexpr const char* kBisectPhase = "bisect";

/// One kind of things that can be switched off: a compiler's optimisers, our fusion rules, or the types of nodes.
struct BisectStage {
  std::string what;                   ///< "optimisers", "fusion rules", "the hint", "types of nodes"
  std::vector<std::string> switches;  ///< their names in the compiler; for types the names of nodes
  Culprits found;                     ///< indices in `switches`
};

struct BisectLevel {
  std::string level;
  double error = 0;
};

struct BisectReport {
  CulpritEnd end = CulpritEnd::NoCulprit;
  double before = 0;                   ///< the error of the worst output of the unchanged plan; infinite: an element is
                                       ///< not finite
  std::vector<BisectLevel> levels;     ///< for a compiler with levels, those that were tried, the lowest first
  std::vector<BisectStage> stages;     ///< in the order in which they were tried; a culprit is in the last one
  std::vector<std::string> options;    ///< the options that a command needs to switch the culprits off
  std::optional<PlanOptions> without;  ///< the options of the plan with the culprits switched off; nothing: there are
                                       ///< no culprits
  std::optional<bool> honoured;        ///< whether the compiler confirms that they were off; nothing: it does not say
  std::int64_t builds = 0;
  double seconds = 0;

  const BisectStage* stage() const { return end == CulpritEnd::Found ? &stages.back() : nullptr; }
};

/// Returns the culprits with the compiler's names for them; empty if there are none.
std::vector<std::string> culpritsOf(const BisectReport& report);

/// Returns {end, before, after, what, culprits[], levels[…], stages[…], options[], honoured, builds, seconds}.
Json toJson(const BisectReport& report);
/// Reads what toJson() wrote; BisectReport::without is read from `plan_options` if that is there. Errors name the
/// field.
Result<BisectReport> bisectReportFromJson(const Json& json);

/// Returns the error of outputs as text: "0.00225", or "not finite".
std::string bisectErrorText(double error);
/// Returns the result of a stage as text: "right without 1 of them".
std::string inWords(const BisectStage& stage);
/// Returns the result of the search in sentences: first the culprit, then how to switch it off. `tolerance` is the
/// largest error that counts as right.
std::vector<std::string> inWords(const BisectReport& report, double tolerance);

}  // namespace fusescope
