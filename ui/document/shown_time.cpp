#include "ui/document/shown_time.h"

namespace fusescope {

QString shortMsText(double ms) {
  if (ms >= 100) return QStringLiteral("%1 ms").arg(ms, 0, 'f', 0);
  if (ms >= 1) return QStringLiteral("%1 ms").arg(ms, 0, 'f', 2);
  return QStringLiteral("%1 µs").arg(ms * 1000, 0, 'f', ms >= 0.1 || ms == 0 ? 0 : 1);
}

ShownTime shownTime(const ShownTimes& times, const std::string& handle, std::optional<double> predictedMs,
                    bool fitted) {
  if (const auto found = times.find(handle); found != times.end()) return found->second;
  if (!predictedMs) return {};
  return {fitted ? TimeKind::Fitted : TimeKind::Predicted, *predictedMs};
}

QString timeText(const ShownTime& time) {
  switch (time.kind) {
    case TimeKind::Measured:
      return shortMsText(time.ms);
    case TimeKind::OfOtherPlan:
      return QStringLiteral("[%1]").arg(shortMsText(time.ms));
    case TimeKind::Predicted:
      return QStringLiteral("≈ ") + shortMsText(time.ms);
    case TimeKind::Fitted:
      return QStringLiteral("~ ") + shortMsText(time.ms);
    case TimeKind::Emulated:
      return QStringLiteral("emulated");
    case TimeKind::Unknown:
      break;
  }
  return QStringLiteral("no time");
}

QString kindText(TimeKind kind, const QString& made) {
  switch (kind) {
    case TimeKind::Measured:
      return QStringLiteral("measured in %1").arg(made);
    case TimeKind::OfOtherPlan:
      return QStringLiteral("measured in %1, which is of another plan, of a kernel with the same nodes and types")
          .arg(made);
    case TimeKind::Predicted:
      return QStringLiteral("predicted: such a kernel was measured before");
    case TimeKind::Fitted:
      return QStringLiteral("fitted to other kernels");
    case TimeKind::Emulated:
      return QStringLiteral("calculated in software: has no time");
    case TimeKind::Unknown:
      break;
  }
  return QStringLiteral("not known");
}

}  // namespace fusescope
