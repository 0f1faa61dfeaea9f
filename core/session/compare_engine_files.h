#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/artifact.h"
#include "session/compare.h"
#include "session/documents/compare_report.h"
#include "session/documents/engine_reports.h"

namespace fusescope {

/// What the files of one side say.
struct EngineFilesSide {
  std::string compiler;                 ///< "tensorrt 10.16.1"
  std::string device;                   ///< empty: the files do not say
  std::string times;                    ///< what the times of kernels are; empty: there are no times
  std::optional<double> kernelsMs;      ///< the sum over kernels that contain nodes
  std::optional<double> conversionsMs;  ///< the sum over kernels without nodes: reformats, moves
  std::int64_t conversions = 0;         ///< the number of kernels without nodes
  std::optional<double> latencyMs;      ///< the latency of a whole run
  bool hasNetwork = true;               ///< false: the network was drawn from the layers
  std::string inputs;                   ///< the extents that it was built for: "input 1x3x224x224"
};

/// The sums over groups: those with a time on both sides, which can be compared, and those that only one side has. Null
/// if no time is known.
struct EngineFilesTotals {
  std::optional<double> aMs{}, bMs{};          ///< groups that have no time, or no kernels, on the other side
  std::optional<double> onlyAMs{}, onlyBMs{};  ///< of groups that have no time, or nothing, on the other side
};

/// Two engines that were read from files, side by side. They are matched by the nodes of the network that their kernels
/// cover, whatever the names in the networks and layers; if a side has no network, by what the layers say. Conversions
/// are listed separately. Nothing is run: all times are those in the files.
struct EngineFilesComparison {
  EngineFilesSide a, b;
  std::string matchedBy;  ///< how the groups were found, as a sentence without a full stop
  EngineFilesTotals totals;
  std::vector<CompareGroup> groups;  ///< groups of kernels that contain nodes; `deltaRangeMs` is never set
  std::string notRanked;             ///< why it is unknown which engine is faster; empty: it is known
};

/// Returns whether a plan was read from files of an engine that was built elsewhere.
bool isOfEngineFiles(const Artifact& artifact);

/// Compares two engines that were read from files. It is a pure function.
EngineFilesComparison compareEngineFiles(const ReadBackPlan& a, const ReadBackPlan& b);
Json toJson(const EngineFilesComparison& comparison);

}  // namespace fusescope
