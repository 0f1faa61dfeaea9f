#include "ui/canvas/canvas_painter.h"

namespace fusescope {

namespace {

constexpr double kCornerPixels = 20, kFarCornerPixels = 7, kCountFrom = 16;

}  // namespace

void CanvasPainter::text(const QRectF& rect, int flags, const QString& text) {
  if (isLegible(m_painter.font().pixelSize())) m_painter.drawText(rect, flags, text);
}

void CanvasPainter::badge(const QPointF& topRight, int i) {
  const QString& label = m_look.colors->of(std::size_t(i)).badge;
  if (label.isEmpty()) return;
  QColor color = m_look.colors->of(std::size_t(i)).badgeFill;
  if (isFaded(i)) color = mixed(color, m_theme.canvas, 0.7);
  const double width = typeBadgeWidth(i);
  const QRectF pill(topRight - QPointF(width, 0), QSizeF(width, badgeHeight()));
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(color);
  m_painter.drawRoundedRect(pill, 4, 4);
  QFont font = badgeFont();
  font.setPixelSize(legiblePixels(metrics::kMetaPixels));
  m_painter.setFont(font);
  m_painter.setPen(readableOn(color));
  text(pill, Qt::AlignCenter, label);
}

// Returns the width of the badge with the type. Its letters are enlarged if they would be too small to read.
double CanvasPainter::typeBadgeWidth(int i) const {
  const double grow = double(legiblePixels(metrics::kMetaPixels)) / metrics::kMetaPixels;
  return badgeWidth(m_look.colors->of(std::size_t(i)).badge) * grow;
}

void CanvasPainter::badges(int i, const QRectF& rect) {
  std::vector<Mark> marks = m_look.colors->of(std::size_t(i)).marks;
  if (i == m_look.failing) std::erase(marks, Mark::Wrong);  // larger words above the box say this
  const QString& badge = m_look.colors->of(std::size_t(i)).badge;
  std::erase_if(marks, [&](Mark mark) { return markWord(mark) == badge; });  // the box shows this word already
  if (marks.empty()) return;
  const int size = legiblePixels(metrics::kMetaPixels);
  QFont font = badgeFont();
  font.setPixelSize(size);
  m_painter.setFont(font);
  for (const PlacedBadge& placed : placeBadges(rect, marks, size, m_theme)) {
    const QColor fill = isFaded(i) ? mixed(placed.fill, m_theme.canvas, 0.7) : placed.fill;
    m_painter.setPen(QPen(m_theme.canvas, 1));
    m_painter.setBrush(fill);
    m_painter.drawRoundedRect(placed.rect, 4, 4);
    m_painter.setPen(readableOn(fill));
    text(placed.rect, Qt::AlignCenter, placed.text);
  }
}

double CanvasPainter::cornerSide(int i, const QRectF& rect) const {
  if (m_look.colors->of(std::size_t(i)).marks.empty()) return 0;
  return std::min(pixels(m_detail == Detail::Colors ? kFarCornerPixels : kCornerPixels), rect.height());
}

void CanvasPainter::badgeCorner(int i, const QRectF& rect) {
  const double side = cornerSide(i, rect);
  if (side * m_scale < 3) return;
  const std::vector<Mark>& marks = m_look.colors->of(std::size_t(i)).marks;
  const QColor color = markColor(marks.front(), m_theme);
  const QColor fill = isFaded(i) ? mixed(color, m_theme.canvas, 0.7) : color;
  m_painter.setPen(QPen(m_theme.canvas, pixels(1)));
  m_painter.setBrush(fill);
  m_painter.drawPolygon(
      QPolygonF({rect.topRight() - QPointF(side, 0), rect.topRight(), rect.topRight() + QPointF(0, side)}));
  if (side * m_scale < kCountFrom) return;
  QFont font = badgeFont();
  font.setPixelSize(legiblePixels(1));
  m_painter.setFont(font);
  m_painter.setPen(readableOn(fill));
  const double half = 0.6 * side;
  text(QRectF(rect.right() - half, rect.top(), half, half), Qt::AlignCenter, QString::number(marks.size()));
}

}  // namespace fusescope
