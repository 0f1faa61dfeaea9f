#pragma once

#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "ui/document/by_handle.h"

namespace fusescope {

struct Cover;
struct FusedNode;

/// The source of a displayed time. Each kind looks different wherever a time is shown.
enum class TimeKind {
  Measured,     ///< measured for the displayed plan
  OfOtherPlan,  ///< measured in a run of another plan, for a kernel with the same nodes and types
  Predicted,    ///< measured earlier for such a kernel
  Fitted,       ///< fitted to other kernels
  Reported,     ///< reported by the compiler that made the kernel
  Emulated,     ///< calculated in software, so that there is no time
  Unknown
};

/// A time of one kernel.
struct ShownTime {
  TimeKind kind = TimeKind::Unknown;
  double ms = 0;         ///< for the first five kinds
  std::string tactic{};  ///< the tactic that was measured; empty: not measured
  bool atLeast = false;  ///< a sum over several kernels, some of which have no time
  bool known() const { return kind != TimeKind::Emulated && kind != TimeKind::Unknown; }
  bool operator==(const ShownTime&) const = default;
};

/// The times that a run measured.
struct ShownTimes : ByHandle<ShownTime> {
  using ByHandle::ByHandle;
  QString made, madeBriefly;  ///< "run 3, 2 pins", "run 3"; empty: there are no times
  bool same(const ShownTimes& other) const { return isSameObject(other) && made == other.made; }
};

/// Returns the time in `times` for `handle`, or `untimed` if there is none.
ShownTime shownTime(const ShownTimes& times, const std::string& handle, const ShownTime& untimed);
/// Returns the sum of the times of kernels that run one after another, with the least certain kind. Kernels without a
/// time are omitted, and atLeast is set.
ShownTime sumOf(const std::vector<ShownTime>& times);
/// Returns the time of a kernel that no run measured: predicted, or reported by another compiler.
ShownTime timeWithoutRun(const Cover& cover, const FusedNode& fused);

/// Returns "0.12 ms" if measured, "[0.12 ms]" for another plan, "≈ 0.12 ms" if predicted, "~ 0.12 ms" if fitted, "“0.12
/// ms”" if reported, "emulated", "no time"; for several kernels, some of which have no time, "≈ 0.12 ms or more".
QString timeText(const ShownTime& time);
/// Returns the kind in words. `made` is the run that measured it.
QString kindText(TimeKind kind, const QString& made);

}  // namespace fusescope
