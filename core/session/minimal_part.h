#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/part_trial.h"
#include "tuning/culprits.h"

namespace fusescope {

/// The smallest part that the search found.
struct MinimalPart {
  CulpritEnd end = CulpritEnd::NoCulprit;  ///< Found; NoCulprit: not even the whole network shows it; OutOfBudget
  std::set<std::size_t> nodes;             ///< indices in the file; empty for NoCulprit
  bool minimal = false;   ///< the part without any one of its nodes does not show it; this was tried for each node
  bool smallest = false;  ///< no smaller set of adjacent nodes shows it; each such set was tried
  std::int64_t of = 0;    ///< number of nodes that were searched
  std::int64_t trials = 0;
  double seconds = 0;
  std::string what;  ///< what the smallest part shows, in words: the error, the refusal
};

/// Searches the nodes `among` (of the file of `artifact`) for the smallest part that still shows what `options` ask
/// for. Each part is cut out, compiled, and run on the values that the reference calculates for its inputs from the
/// first of `samples`. The search is findCulprits(): it is deterministic and needs about k log(n / k) trials for k of n
/// nodes. Then smallerSet() searches for fewer nodes elsewhere; without a limit it may use twice as many additional
/// trials, or 32. Parts that cannot be cut out or run show nothing. Errors: the values of the network cannot be
/// recorded; a node of `together` does not exist.
Result<MinimalPart> minimalPart(const Artifact& artifact, const NetworkCutter& cutter,
                                const std::set<std::size_t>& among, const Samples& samples,
                                const MinimalOptions& options);

/// Returns {shows, end, minimal, smallest, against, nodes, of, trials, seconds, what}.
Json toJson(const MinimalPart& part, const MinimalOptions& options, const NetworkCutter& cutter);

}  // namespace fusescope
