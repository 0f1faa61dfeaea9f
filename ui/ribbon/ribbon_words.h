#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "ui/document/runs.h"
#include "ui/ribbon/ribbon_picture.h"

namespace fusescope {

// What the ribbon says of what it shows, for people and for screen readers.

/// "layer.3 · attention" of the innermost block that holds the kernel; empty: none does.
QString blockTitleOf(const RibbonLane& lane, std::uint32_t kernel);
/// What stands on a bar, the longest first: the first that fits is shown.
QStringList barLabels(const RibbonLane& lane, std::uint32_t kernel);
/// "38 kernels · 0.400 ms"; where kernels among them have no time, how many.
QString gatheredLabel(const RibbonPicture& picture, std::size_t lane, std::uint32_t first, std::uint32_t last);
/// "segment_1, fallback", or the block's name.
QString rowLabel(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar);

/// "2 pins" of "run 3, 2 pins"; of another plan than the one on screen it says that.
QString nameOfRun(const RibbonLane& lane);
/// "12.3 % of all kernels"; empty: it has no time.
QString shareText(const RibbonLane& lane, double ms);
/// Name, kernels, time with how it is known, share, error if known: lines.
QString barTooltip(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar);
QString gatheredTooltip(const RibbonPicture& picture, std::size_t lane, std::uint32_t first, std::uint32_t last);
/// What differs in a group between a lane and the one below it; empty: nothing.
QString differenceTooltip(const RibbonPicture& picture, std::size_t upper, std::uint32_t group);
/// The same as barTooltip(), in one line.
QString barDescription(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar);

/// What stands beside a lane: its time, whose it is, and what the widths are where they are no time.
struct LaneTotal {
  QString time;    ///< "162 ms", "≈ 120 ms"; "≥ ≈ 120 ms" where kernels have no time
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
  std::optional<bool> isSlower{};  ///< only where turns tell the two apart
};
/// `inTurns`: what was found when the two were timed in turns, which is what tells them apart; nothing: they were not.
TotalDelta totalDelta(const RibbonPicture& picture, std::size_t upper, const std::optional<Runs::InTurns>& inTurns);

}  // namespace fusescope
