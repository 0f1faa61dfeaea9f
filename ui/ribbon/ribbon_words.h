#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "ui/document/runs.h"
#include "ui/ribbon/ribbon_picture.h"

namespace fusescope {

// Texts about the contents of the ribbon, for people and for screen readers.

/// Returns "layer.3 · attention" for the innermost block that contains the kernel; empty: none does.
QString blockTitleOf(const RibbonLane& lane, std::uint32_t kernel);
/// Returns the possible texts on a bar, the longest first; the first that fits is shown.
QStringList barLabels(const RibbonLane& lane, std::uint32_t kernel);
/// Returns "38 kernels · 0.400 ms", and how many of them have no time.
QString gatheredLabel(const RibbonPicture& picture, std::size_t lane, std::uint32_t first, std::uint32_t last);
/// Returns "segment_1, fallback", or the block's name.
QString rowLabel(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar);

/// Returns "2 pins" for "run 3, 2 pins", and says if it is a run of another plan than the displayed one.
QString nameOfRun(const RibbonLane& lane);
/// Returns "12.3 % of all kernels"; empty if it has no time.
QString shareText(const RibbonLane& lane, double ms);
/// Returns lines with name, kernels, time and its source, share, and error if it is known.
QString barTooltip(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar);
QString gatheredTooltip(const RibbonPicture& picture, std::size_t lane, std::uint32_t first, std::uint32_t last);
/// Returns the differences in a group between a lane and the one below it; empty: none.
QString differenceTooltip(const RibbonPicture& picture, std::size_t upper, std::uint32_t group);
/// Returns the same as barTooltip(), in one line.
QString barDescription(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar);

/// The texts beside a lane: its time, whose it is, and what the widths mean if they are not times.
struct LaneTotal {
  QString time;    ///< "162 ms", "≈ 120 ms"; "≥ ≈ 120 ms" if kernels have no time
  QString whose;   ///< "measured, run 3"
  QString more;    ///< "width by work"; may be empty
  QString unseen;  ///< "8 of 11 have no width"; empty: all have one
  QString tooltip;
};
LaneTotal laneTotal(const RibbonPicture& picture, std::size_t lane);
/// By how much a lane is slower than the one above it.
struct TotalDelta {
  QString text;                    ///< "+8.1 % in turns", "+8.1 %, not in turns"; empty unless both were measured
  QString tooltip;                 ///< the same with times and ranges
  std::optional<bool> isSlower{};  ///< set only if timing in turns shows which is slower
};
/// `inTurns` is the result of timing the two in turns, which shows whether they differ; nothing: they were not timed in
/// turns.
TotalDelta totalDelta(const RibbonPicture& picture, std::size_t upper, const std::optional<Runs::InTurns>& inTurns);

}  // namespace fusescope
