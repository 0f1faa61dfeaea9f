#pragma once

#include <QString>
#include <QUrl>
#include <QVariant>

#include "calibration/ranges.h"
#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// The scheme of pictures of edges' histograms in the Inspector: "histogram:VALUE".
inline const QString kHistogramScheme = QStringLiteral("histogram");

/// The edge that the plan's ranges know `value` as: itself, or what it was quantised from; null: none, or there are no
/// ranges.
struct KnownRange {
  std::string value;  ///< as the ranges name it
  const EdgeRange* edge = nullptr;
};
KnownRange rangeOf(const Plan& plan, ValueId value);

/// The edges that the nodes read from others or leave to others, each with its range and what was seen there; empty
/// where the plan has no ranges, or these know none of them.
QString rangesHtml(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);

/// The picture of such a link, sharp at `ratio` pixels a point; invalid where there is none.
QVariant histogramPicture(const Plan& plan, const QUrl& link, double ratio, const Theme& theme);

}  // namespace fusescope
