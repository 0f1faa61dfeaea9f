#include "ui/document/shown_time.h"

#include "planning/read_back/read_back_plan.h"
#include "ui/document/qt_text.h"

namespace fusescope {

ShownTime shownTime(const ShownTimes& times, const std::string& handle, const ShownTime& untimed) {
  const auto found = times.find(handle);
  return found == times.end() ? untimed : found->second;
}

ShownTime sumOf(const std::vector<ShownTime>& times) {
  ShownTime sum;
  TimeKind least = TimeKind::Measured;
  bool any = false, emulated = !times.empty();
  for (const ShownTime& time : times) {
    emulated = emulated && time.kind == TimeKind::Emulated;
    if (!time.known()) {
      sum.atLeast = true;
      continue;
    }
    any = true;
    least = std::max(least, time.kind);
    sum.ms += time.ms;
    sum.atLeast = sum.atLeast || time.atLeast;
  }
  if (any) {
    sum.kind = least;
  } else {
    sum = {.kind = emulated ? TimeKind::Emulated : TimeKind::Unknown};
  }
  return sum;
}

ShownTime timeWithoutRun(const Cover& cover, const FusedNode& fused) {
  if (const ReadBackPlan* made = asReadBack(cover); made != nullptr && !made->kernels[fused.id.index].isOurs) {
    const std::optional<double> reported = made->kernels[fused.id.index].ms;
    return reported ? ShownTime{TimeKind::Reported, *reported} : ShownTime();
  }
  if (!fused.predictedMs) return {};
  return {fused.predictedHow == PriceSource::Fitted ? TimeKind::Fitted : TimeKind::Predicted, *fused.predictedMs};
}

QString timeText(const ShownTime& time) {
  if (time.atLeast) {
    ShownTime known = time;
    known.atLeast = false;
    return timeText(known) + QStringLiteral(" or more");
  }
  switch (time.kind) {
    case TimeKind::Measured:
      return msText(time.ms);
    case TimeKind::OfOtherPlan:
      return QStringLiteral("[%1]").arg(msText(time.ms));
    case TimeKind::Predicted:
      return QStringLiteral("≈ ") + msText(time.ms);
    case TimeKind::Fitted:
      return QStringLiteral("~ ") + msText(time.ms);
    case TimeKind::Reported:
      return QStringLiteral("“%1”").arg(msText(time.ms));
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
    case TimeKind::Reported:
      return QStringLiteral("as the compiler reported it");
    case TimeKind::Emulated:
      return QStringLiteral("calculated in software: there is no time");
    case TimeKind::Unknown:
      break;
  }
  return QStringLiteral("not known");
}

}  // namespace fusescope
