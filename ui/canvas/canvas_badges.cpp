#include "ui/canvas/canvas_badges.h"

#include <QFontMetricsF>
#include <algorithm>

#include "ui/canvas/canvas_metrics.h"

namespace fusescope {

namespace {

/// The gap between badges, and their distance from the corner of the box.
constexpr double kBadgeGap = 3, kBadgeInset = 8;
constexpr double kAbove = 0.6;  ///< the part of a badge that is above the edge of its box

struct MarkLook {
  const char *word, *dark, *light, *text;
};

MarkLook lookOf(Mark mark) {
  switch (mark) {
    case Mark::Wrong:
      return {"wrong", "#ff8a82", "#bd1e2a", "Its error is larger than the tolerance allows."};
    case Mark::Refused:
      return {"refused", "#ff5d73", "#b3123f", "A pin on it was refused."};
    case Mark::Ignored:
      return {"ignored", "#e07ab8", "#9c2f78", "The compiler ignored a pin on it."};
    case Mark::Slow:
      return {"slow", "#f0b34a", "#855800", "It takes a tenth of the time of all kernels, or more."};
    case Mark::Fallback:
      return {"fallback", "#b6a295", "#5f4c41", "It is in fallback: the target or the compiler does not run it."};
    case Mark::Guessed:
      return {"guessed", "#8fc1cc", "#2a5e6b", "It is a guess which kernel contains it: the compiler does not say so."};
    case Mark::Pinned:
      return {"pinned", "#efa412", "#7d4e05", "A pin on it is satisfied."};
  }
  return {};
}

}  // namespace

std::vector<Mark> marksOf(const CanvasItem& item, const ShownTime& time, double allMs, const ShownError& error,
                          double errorBound) {
  std::vector<Mark> marks;
  if (!item.calculates()) return marks;
  const auto isBeyond = [&](Which which) { return isWrong(levelOf(error, which, errorBound)); };
  if (error.kind == ErrorKind::Measured && (isBeyond(&LocalAndCarried::local) || isBeyond(&LocalAndCarried::carried)))
    marks.push_back(Mark::Wrong);
  if (item.facts.refused) marks.push_back(Mark::Refused);
  if (item.facts.ignored) marks.push_back(Mark::Ignored);
  // Most blocks take at least a tenth of the total time, so that the mark would mean nothing for them.
  const bool isBlock = item.block != nullptr;
  if (!isBlock && time.kind == TimeKind::Measured && allMs > 0 && time.ms >= kSlowShare * allMs)
    marks.push_back(Mark::Slow);
  if (item.fallback) marks.push_back(Mark::Fallback);
  if (item.facts.guessed) marks.push_back(Mark::Guessed);
  if (item.facts.pinned) marks.push_back(Mark::Pinned);
  return marks;
}

QString markWord(Mark mark) {
  return QLatin1String(lookOf(mark).word);
}

QColor markColor(Mark mark, const Theme& theme) {
  const MarkLook look = lookOf(mark);
  return QColor(QLatin1String(theme.kind == ThemeKind::Dark ? look.dark : look.light));
}

QString markText(Mark mark) {
  return QLatin1String(lookOf(mark).text);
}

std::vector<PlacedBadge> placeBadges(const QRectF& box, const std::vector<Mark>& marks, int pixelSize,
                                     const Theme& theme) {
  QFont font = badgeFont();
  font.setPixelSize(pixelSize);
  const QFontMetricsF metrics(font);
  const double height = 1.5 * pixelSize, top = box.top() - kAbove * height;
  const auto widthOf = [&](const QString& text) { return metrics.horizontalAdvance(text) + metrics::kBadgePadding; };
  double right = box.right() - kBadgeInset;
  std::vector<PlacedBadge> placed;
  const auto place = [&](const QString& text, const QColor& fill) {
    const double width = widthOf(text);
    placed.push_back({QRectF(right - width, top, width, height), text, fill});
    right -= width + kBadgeGap;
  };
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto left = marks.size() - i;
    const QString rest = QStringLiteral("+%1").arg(left);
    const double behind = left > 1 ? widthOf(QStringLiteral("+%1").arg(left - 1)) + kBadgeGap : 0;
    const bool fits = right - widthOf(markWord(marks[i])) - behind >= box.left() + kBadgeInset;
    if (!fits && i > 0) {
      place(rest, theme.dimText);
      break;
    }
    place(markWord(marks[i]), markColor(marks[i], theme));
  }
  return placed;
}

}  // namespace fusescope
