#pragma once

#include <QString>
#include <optional>
#include <string>

#include "planning/price.h"
#include "ui/document/by_handle.h"

namespace fusescope {

/// How a time on screen is known. Each kind looks different wherever a time is shown.
enum class TimeKind {
  Measured,     ///< of the plan on screen
  OfOtherPlan,  ///< measured in a run of another plan, of a kernel with the same nodes and types
  Predicted,    ///< measured before, of such a kernel
  Fitted,       ///< from other kernels
  Emulated,     ///< calculated in software: has none
  Unknown
};

/// A time of one kernel.
struct ShownTime {
  TimeKind kind = TimeKind::Unknown;
  double ms = 0;  ///< of the first four kinds
  bool known() const { return kind != TimeKind::Emulated && kind != TimeKind::Unknown; }
  bool operator==(const ShownTime&) const = default;
};

using ShownTimes = ByHandle<ShownTime>;

/// What `times` has of `handle`, else what was predicted.
ShownTime shownTime(const ShownTimes& times, const std::string& handle, std::optional<double> predictedMs, bool fitted);

/// Three digits or so, for where there is little room: "123 ms", "2.34 ms", "56.7 µs".
QString shortMsText(double ms);
/// "0.12 ms" measured, "[0.12 ms]" of another plan, "≈ 0.12 ms" predicted, "~ 0.12 ms" fitted, "emulated", "no time".
QString timeText(const ShownTime& time);
/// The same in words, for tooltips.
QString kindText(TimeKind kind);

}  // namespace fusescope
