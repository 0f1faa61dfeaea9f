#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "session/extract.h"
#include "session/session.h"
#include "tuning/culprits.h"

namespace fusescope {

/// What the smallest part is still to show.
enum class PartShows {
  Difference,  ///< the plan, or what the compiler made of it, gives other numbers than the network in its own types
  Refusal,     ///< the target or the compiler refuses a node: it falls back, or nothing is compiled
  Unfused,     ///< two nodes are in no kernel together
};
std::string_view name(PartShows shows);  ///< "difference", "refusal", "unfused"
std::optional<PartShows> partShowsFromName(std::string_view name);
std::vector<std::string> partShowsNames();  ///< all of them

struct MinimalOptions {
  PartShows shows = PartShows::Difference;
  double tolerance = 1e-2;              ///< a difference is max|Δ| over rms of more than that
  std::vector<std::string> together{};  ///< Unfused: the two nodes, which every part holds
  std::int64_t trials = 0;              ///< parts that are tried at the most; 0: no limit
  double seconds = 0;                   ///< likewise
  /// With what another compiler is asked, that is not to show it: what both show is not searched for. Nothing: no
  /// other is.
  std::optional<PlanOptions> against{};
  std::filesystem::path folder;  ///< where parts that are tried are written
  RecordingOptions run{};
};

/// The smallest part that the search knows.
struct MinimalPart {
  CulpritEnd end = CulpritEnd::NoCulprit;  ///< Found; NoCulprit: not even the whole shows it; OutOfBudget
  std::set<std::size_t> nodes;             ///< places in the file's list; of NoCulprit none
  bool minimal = false;   ///< without any one of its nodes the part does not show it, which was tried for each
  bool smallest = false;  ///< and no fewer nodes that lie beside each other show it: each such set was tried
  std::int64_t of = 0;    ///< nodes that it was searched in
  std::int64_t trials = 0;
  double seconds = 0;
  std::string what;  ///< what the smallest part shows, in words: the error, the refusal
};

/// Searches the nodes `among` (of the file of `artifact`) for the smallest part that still shows what `options` say.
/// Each part is cut out, given what the reference makes of the first of `samples` up to its borders, compiled and run.
/// The search is findCulprits(): deterministic, about k log(n / k) trials for k nodes of n. Then smallerSet() looks for
/// fewer nodes elsewhere: where there is no limit, with twice as many trials more, or 32. Parts that cannot be cut out
/// or run show nothing. Errors: the values of the network cannot be recorded; a node of `together` is not there.
Result<MinimalPart> minimalPart(const Artifact& artifact, const NetworkCutter& cutter,
                                const std::set<std::size_t>& among, const Samples& samples,
                                const MinimalOptions& options);

/// {shows, end, minimal, smallest, against, nodes, of, trials, seconds, what}
Json toJson(const MinimalPart& part, const MinimalOptions& options, const NetworkCutter& cutter);

}  // namespace fusescope
