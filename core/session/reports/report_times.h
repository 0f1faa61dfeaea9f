#pragma once

#include <map>
#include <optional>
#include <string>

#include "session/reports/report_side.h"

namespace fusescope {

/// The time of a kernel and its source: "run" (timed in a run), "built" (timed when the engine was built), "measured"
/// and "fitted" (predicted), "emulated" (it has no time) or "unknown".
struct KnownTime {
  std::optional<double> ms;
  std::string how = "unknown";
};

/// The known times of the kernels of a side.
class ReportTimes {
 public:
  explicit ReportTimes(const ReportSide& side);
  KnownTime of(const FusedNode& fused) const;
  /// Returns the step of the run; null if there is none.
  const RunLayer* layer(const FusedNode& fused) const;

 private:
  void add(const std::vector<RunLayer>& layers);
  const ReportSide& m_side;
  std::map<std::string, const RunLayer*> m_layers;  ///< by identity
};

/// Returns the sum, with the least certain of the sources; nothing if a time is unknown.
KnownTime sumOf(const std::vector<KnownTime>& times);
/// Returns {ms, how}.
Json toJson(const KnownTime& time);

}  // namespace fusescope
