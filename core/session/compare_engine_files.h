#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace fusescope {

/// What one side's files say.
struct EngineFilesSide {
  std::string compiler;                 ///< "tensorrt 10.16.1"
  std::string device;                   ///< empty: the files do not say
  std::string times;                    ///< what times of kernels count; empty: there are none
  std::optional<double> kernelsMs;      ///< the sum of kernels that hold nodes
  std::optional<double> conversionsMs;  ///< the sum of those that hold none: reformats, moves
  std::int64_t conversions = 0;         ///< how many these are
  std::optional<double> latencyMs;      ///< of a whole run
  bool hasNetwork = true;               ///< false: the network was drawn from the layers
  std::string inputs;                   ///< "input 1x3x224x224": what it was built for
};

/// What the groups come to together: those of both sides, whose times can be set against each other, and those that
/// one side alone has. Null where no time is known.
struct EngineFilesTotals {
  std::optional<double> aMs{}, bMs{};          ///< of groups with a time on both sides
  std::optional<double> onlyAMs{}, onlyBMs{};  ///< of groups that have no time, or nothing, on the other side
};

/// Two engines whose files were read, side by side: by the nodes of the network that their kernels cover, whatever the
/// networks and layers call them; where a side has no network, by what the layers say. Conversions stand apart. Nothing
/// is run: all times are those of the files.
struct EngineFilesComparison {
  EngineFilesSide a, b;
  std::string matchedBy;  ///< how the groups were found, in a sentence without its end
  EngineFilesTotals totals;
  std::vector<CompareGroup> groups;  ///< of kernels that hold nodes; `deltaRangeMs` is not known
  std::string notRanked;             ///< why nothing is said of which is faster; empty: it is
};

/// Whether a plan was read from files of an engine that others built.
bool isOfEngineFiles(const Artifact& artifact);

/// Both must be of engine files. Pure.
EngineFilesComparison compareEngineFiles(const ReadBackPlan& a, const ReadBackPlan& b);
Json toJson(const EngineFilesComparison& comparison);

}  // namespace fusescope
