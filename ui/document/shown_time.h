#pragma once

#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "ui/document/by_handle.h"

namespace fusescope {

struct Cover;
struct FusedNode;

/// How a time on screen is known. Each kind looks different wherever a time is shown.
enum class TimeKind {
  Measured,     ///< of the plan on screen
  OfOtherPlan,  ///< measured in a run of another plan, of a kernel with the same nodes and types
  Predicted,    ///< measured before, of such a kernel
  Fitted,       ///< from other kernels
  Told,         ///< by the compiler whose kernel it is
  Emulated,     ///< calculated in software: has none
  Unknown
};

/// A time of one kernel.
struct ShownTime {
  TimeKind kind = TimeKind::Unknown;
  double ms = 0;         ///< of the first five kinds
  std::string tactic{};  ///< by which it was measured; empty: it was not
  bool atLeast = false;  ///< of several kernels, of which some have no time
  bool known() const { return kind != TimeKind::Emulated && kind != TimeKind::Unknown; }
  bool operator==(const ShownTime&) const = default;
};

/// Those that a run measured.
struct ShownTimes : ByHandle<ShownTime> {
  using ByHandle::ByHandle;
  QString made, madeBriefly;  ///< "run 3, 2 pins", "run 3"; empty: there are none
  bool same(const ShownTimes& other) const { return shares(other) && made == other.made; }
};

/// What `times` has of `handle`, else `untimed`.
ShownTime shownTime(const ShownTimes& times, const std::string& handle, const ShownTime& untimed);
/// The time of kernels that run one after another: their sum, known as the one that is known least. Those without a
/// time are left out, and said.
ShownTime sumOf(const std::vector<ShownTime>& times);
/// The time of a kernel that no run measured: what was predicted, or what another compiler told.
ShownTime timeWithoutRun(const Cover& cover, const FusedNode& fused);

/// "0.12 ms" measured, "[0.12 ms]" of another plan, "≈ 0.12 ms" predicted, "~ 0.12 ms" fitted, "“0.12 ms”" told,
/// "emulated", "no time"; of several kernels, of which some have no time, "≈ 0.12 ms or more".
QString timeText(const ShownTime& time);
/// The same in words. `made`: the run that measured it.
QString kindText(TimeKind kind, const QString& made);

}  // namespace fusescope
