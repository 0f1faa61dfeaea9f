#pragma once

#include <map>
#include <optional>
#include <string>

#include "session/report.h"

namespace fusescope {

/// What a kernel takes, and how that is known: "run" (timed in a run), "built" (timed when the engine was built),
/// "measured" and "fitted" (predicted), "emulated" (it has no time) or "unknown".
struct KnownTime {
  std::optional<double> ms;
  std::string how = "unknown";
};

/// What is known of the kernels of a side.
class ReportTimes {
 public:
  explicit ReportTimes(const ReportSide& side);
  KnownTime of(const FusedNode& fused) const;
  /// The step of the run; null: there is none of it.
  const RunLayer* layer(const FusedNode& fused) const;

 private:
  void add(const std::vector<RunLayer>& layers);
  const ReportSide& m_side;
  std::map<std::string, const RunLayer*> m_layers;  ///< by identity
};

/// All together: nothing unless each is known, and known as the least certain of them is.
KnownTime sumOf(const std::vector<KnownTime>& times);
/// {ms, how}
Json toJson(const KnownTime& time);

}  // namespace fusescope
