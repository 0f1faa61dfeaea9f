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
  Found,       ///< the result is right if the switches in `off` are off
  NotWrong,    ///< it is right with everything on
  NoCulprit,   ///< it is wrong even with everything off
  OutOfBudget  ///< the limit of builds or time was reached
};
std::string_view name(CulpritEnd end);  ///< "found", "not_wrong", "no_culprit", "out_of_budget"

struct Culprits {
  CulpritEnd end = CulpritEnd::NoCulprit;
  SwitchSet off;  ///< for Found: the smallest known set; for OutOfBudget: a set that is known to be sufficient, or all
  double before = 0;     ///< the error with everything on
  double after = 0;      ///< the error with the switches in `off` off, or with all off for NoCulprit
  bool minimal = false;  ///< it was tried for each switch of `off` that the result is wrong without it
  std::int64_t builds = 0;
};

struct CulpritOptions {
  double tolerance = 1e-2;  ///< an error of at most this is right; NaN never is
  std::int64_t builds = 0;  ///< the maximum number of builds; 0: no limit
  StopToken stop{};         ///< ends the search with what is known so far, as OutOfBudget
};

/// Returns the error with these switches off. If it returns an error instead, the search ends with it.
using ErrorWithout = std::function<Result<double>(const SwitchSet& off)>;

/// Finds a smallest set of `switches` switches such that something that is wrong with all of them on is right when they
/// are off. The search halves sets (QuickXplain) and tries each set once, so that it takes about k log(n / k) builds
/// for k culprits among n switches. If switches interact, the result is still right with `off` off, but a smaller set
/// may exist. Deterministic.
Result<Culprits> findCulprits(std::uint32_t switches, const ErrorWithout& errorWithout, const CulpritOptions& options);

}  // namespace fusescope
