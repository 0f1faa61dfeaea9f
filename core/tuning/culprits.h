#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop.h"

namespace fusescope {

/// Indices of switches, ascending.
using SwitchSet = std::vector<std::uint32_t>;

/// How a search for culprits ended.
enum class CulpritEnd {
  Found,       ///< `off` makes it right
  NotWrong,    ///< it is right with everything on
  NoCulprit,   ///< it is wrong with everything off, too
  OutOfBudget  ///< builds or time were over
};
std::string_view name(CulpritEnd end);  ///< "found", "not_wrong", "no_culprit", "out_of_budget"

struct Culprits {
  CulpritEnd end = CulpritEnd::NoCulprit;
  SwitchSet off;      ///< found: the smallest set that the search knows; out of budget: one that is known to do, or all
  double before = 0;  ///< the error with everything on
  double after = 0;   ///< with `off` off; with all off where there is no culprit
  bool minimal = false;  ///< without any one of `off` it is wrong again, which was tried for each
  std::int64_t builds = 0;
};

struct CulpritOptions {
  double tolerance = 1e-2;  ///< an error of at most this is right; NaN never is
  std::int64_t builds = 0;  ///< at most so many; 0: no limit
  StopToken stop{};         ///< ends a search with what is known so far; `out_of_budget`
};

/// The error with these switches off. Errors: it cannot be told; a search ends with it.
using ErrorWithout = std::function<Result<double>(const SwitchSet& off)>;

/// Finds the smallest set of `switches` switches that must be off so that something is right that is wrong with all of
/// them on. The search halves sets (QuickXplain) and tries each set once, so that k culprits among n take about
/// k log(n / k) builds. Where switches act on each other, `off` still makes it right, but a smaller set may exist.
/// Deterministic.
Result<Culprits> findCulprits(std::uint32_t switches, const ErrorWithout& errorWithout, const CulpritOptions& options);

}  // namespace fusescope
