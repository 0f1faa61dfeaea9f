#pragma once

#include <QString>
#include <QUrl>
#include <QVariant>

#include "calibration/ranges.h"
#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// The URL scheme of pictures of edges' histograms in the Inspector: "histogram:VALUE".
inline const QString kHistogramScheme = QStringLiteral("histogram");

/// The range that the plan has for a value: under its own name, or that of the value that it was quantised from. `edge`
/// is null if there is none, or if the plan has no ranges.
struct KnownRange {
  std::string value;  ///< the name in the ranges
  const EdgeRange* edge = nullptr;
};
KnownRange rangeOf(const Plan& plan, ValueId value);

/// Returns the edges that the nodes read from others or pass to others, each with its range and the observed numbers;
/// empty if the plan has no ranges for them.
QString rangesHtml(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);

/// Returns the picture for such a link, sharp at `ratio` pixels per point; invalid if there is none.
QVariant histogramPicture(const Plan& plan, const QUrl& link, double ratio, const Theme& theme);

}  // namespace fusescope
