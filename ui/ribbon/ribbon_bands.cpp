#include "ui/ribbon/ribbon_bands.h"

#include <algorithm>

namespace fusescope {

namespace {

constexpr double kProgressBand = 4, kRowBand = 14, kErrorBand = 5, kDifferenceBand = 9, kDeltaBand = 14,
                 kInViewBand = 5;
constexpr double kLeastLane = 22;
constexpr std::size_t kMostWorded = 24;  // the most bars in a row that have room for words
constexpr double kCovering = 0.95;       // share of the displayed range
constexpr std::size_t kMostRowsAbove = 3;

/// Returns the height of everything except the rows above, with lanes of their least height.
double heightBesideRows(const RibbonPicture& picture) {
  const double lanes = static_cast<double>(picture.lanes.size());
  double height = kProgressBand + kInViewBand + lanes * kLeastLane + (lanes - 1) * (kDifferenceBand + kDeltaBand);
  for (const RibbonLane& lane : picture.lanes) height += lane.errors.of.empty() ? 0 : kErrorBand;
  return height;
}

std::size_t rowsThatFit(const RibbonPicture& picture, int height) {
  const double left = height - heightBesideRows(picture);
  return left < kRowBand ? 0 : std::min(static_cast<std::size_t>(left / kRowBand), kMostRowsAbove);
}

/// Returns whether one bar of the row covers nearly all of the range, so that the row distinguishes nothing there.
bool covers(const RibbonRow& row, const RibbonRange& range) {
  const int i = row.barAt((range.from + range.to) / 2);
  if (i < 0) return false;
  const RibbonBar& bar = row.bars()[static_cast<std::size_t>(i)];
  return std::min(bar.end, range.to) - std::max(bar.begin, range.from) >= kCovering * range.width();
}

std::size_t barsIn(const RibbonRow& row, const RibbonRange& range) {
  return row.firstBehind(range.to) - row.firstBehind(range.from);
}

bool showsAny(const RibbonRow& row, const RibbonRange& range) {
  const std::size_t i = row.firstBehind(range.from);
  return i < row.bars().size() && row.bars()[i].begin < range.to;
}

}  // namespace

int ribbonHeight(const RibbonPicture& picture, bool roomy) {
  if (picture.empty()) return ribbon::kLeastHeight;
  const std::size_t rows = std::min(picture.layout.above.size(), roomy ? kMostRowsAbove : 1);
  const auto height = static_cast<int>(heightBesideRows(picture) + static_cast<double>(rows) * kRowBand);
  const std::size_t further = picture.lanes.size() < 2 ? 0 : picture.lanes.size() - 2;
  const double forThem = static_cast<double>(further) * (kLeastLane + kErrorBand + kDifferenceBand + kDeltaBand);
  return std::clamp(height, ribbon::kLeastHeight, ribbon::kMostHeight + static_cast<int>(forThem));
}

std::vector<std::size_t> rowsShown(const RibbonPicture& picture, const RibbonRange& range, int height) {
  const std::vector<RibbonRow>& above = picture.layout.above;
  const std::size_t most = rowsThatFit(picture, height);
  std::vector<std::size_t> shown, telling;
  int around = -1;  // the innermost block that contains the whole range
  for (std::size_t i = 0; i < above.size(); ++i) {
    if (!showsAny(above[i], range)) continue;
    if (covers(above[i], range)) {
      around = above[i].kind() == RibbonRow::Kind::Blocks ? static_cast<int>(i) : around;
    } else {
      telling.push_back(i);
    }
  }
  const bool isZoomed = range.width() < picture.layout.total * 0.999;
  const bool isWordless = !telling.empty() && barsIn(above[telling.front()], range) > kMostWorded;
  if (around >= 0 && (telling.empty() || ((isZoomed || isWordless) && most > 1)))
    shown.push_back(static_cast<std::size_t>(around));
  for (const std::size_t row : telling)
    if (shown.size() < most) shown.push_back(row);
  if (shown.size() > most) shown.resize(most);
  std::ranges::sort(shown);
  return shown;
}

std::vector<RibbonBand> ribbonBands(const RibbonPicture& picture, const RibbonRange& range, const QRectF& axis) {
  std::vector<RibbonBand> bands;
  if (picture.empty()) return bands;
  double y = axis.top();
  const auto add = [&](RibbonBand::Kind kind, std::size_t of, double height) {
    bands.push_back({kind, of, QRectF(axis.left(), y, axis.width(), height)});
    y += height;
  };
  const auto rows = rowsShown(picture, range, static_cast<int>(axis.height()));
  const double spare = axis.height() - heightBesideRows(picture) - static_cast<double>(rows.size()) * kRowBand;
  const double lane = kLeastLane + std::max(0.0, spare / static_cast<double>(picture.lanes.size()));
  add(RibbonBand::Kind::Progress, 0, kProgressBand);
  for (const std::size_t row : rows) add(RibbonBand::Kind::Above, row, kRowBand);
  for (std::size_t l = 0; l < picture.lanes.size(); ++l) {
    add(RibbonBand::Kind::Lane, l, lane);
    if (!picture.lanes[l].errors.of.empty()) add(RibbonBand::Kind::Errors, l, kErrorBand);
    if (l + 1 == picture.lanes.size()) break;
    add(RibbonBand::Kind::Differences, l, kDifferenceBand);
    add(RibbonBand::Kind::Deltas, l, kDeltaBand);
  }
  add(RibbonBand::Kind::InView, 0, kInViewBand);
  return bands;
}

}  // namespace fusescope
