#include "ui/canvas/canvas_painter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/canvas/container_kinds.h"

namespace fusescope {
namespace {

constexpr double kSecondShare = 0.2;  ///< the part of a small box that has the colour of its second type
/// The width of a frame; the size and distance of its dots, in widths of the frame.
constexpr double kGuessedWidth = 1.8, kGuessedDot = 1, kGuessedGap = 1.4;

}  // namespace

void CanvasPainter::paint() {
  m_painter.setRenderHint(QPainter::Antialiasing, m_detail != Detail::Colors);
  m_painter.setRenderHint(QPainter::TextAntialiasing);
  const std::vector<int> items = visibleItems();
  const auto paintItems = [&](bool open, void (CanvasPainter::*paint)(int)) {
    for (const int i : items)
      if (m_scene.items[i].open == open && meets(rectOf(i))) (this->*paint)(i);
  };
  paintItems(true, &CanvasPainter::container);
  kernelFrames();
  edges();
  paintItems(true, &CanvasPainter::header);
  paintItems(false, &CanvasPainter::box);
  kernelLabels();
  if (m_detail != Detail::Colors) castMarks();
  if (m_detail == Detail::Full && m_look.progress >= 1) edgeLabels();
  diffMarks();  // after everything else, so that differences are not hidden by what is equal
  if (m_detail != Detail::Colors) failureText();
}

// While items move to new places, any item may be visible; this happens only with few items.
std::vector<int> CanvasPainter::visibleItems() const {
  if (m_look.progress >= 1) return m_scene.itemIndex.meeting(m_visible);
  std::vector<int> all(m_scene.items.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

QRectF CanvasPainter::rectOf(int i) const {
  const QRectF& to = m_scene.rects[std::size_t(i)];
  if (m_look.from == nullptr || m_look.progress >= 1) return to;
  const QRectF& from = (*m_look.from)[i];
  if (from.isNull()) return to;
  const auto between = [&](double a, double b) { return a + (b - a) * m_look.progress; };
  return QRectF(between(from.x(), to.x()), between(from.y(), to.y()), between(from.width(), to.width()),
                between(from.height(), to.height()));
}

QPen CanvasPainter::outline(int i, const QColor& usual) const {
  if (isSelected(i)) return QPen(m_theme.accent, std::max(2.0, pixels(2)));
  if (isMatch(i)) return QPen(m_theme.match, std::max(2.0, pixels(2)));
  if (i == m_look.hovered) return QPen(mixed(usual, m_theme.text, 0.45), std::max(1.2, pixels(1)));
  return QPen(usual, std::max(1.0, pixels(0.6)));
}

/// Makes the frame of an item that is not certain dashed (predicted or derived) or dotted (guessed), in every colour
/// mode. `dashed` is set if the frame is dashed for another reason.
void CanvasPainter::breakFrame(QPen& pen, int i, bool dashed) const {
  const CanvasItem& item = m_scene.items[std::size_t(i)];
  if (isSelected(i)) return;
  if (item.isGuessed()) {
    pen.setWidthF(kGuessedWidth * pen.widthF());
    pen.setDashPattern({kGuessedDot, kGuessedGap});
    pen.setCapStyle(Qt::FlatCap);
  } else if (dashed || item.prediction || item.isUncertain()) {
    pen.setStyle(Qt::DashLine);
  }
}

void CanvasPainter::container(int i) {
  const CanvasItem& item = m_scene.items[i];
  const QRectF rect = rectOf(i);
  const QColor color = m_look.colors->of(std::size_t(i)).fill;
  const ContainerLook& look = item.container->look;
  QPen pen = outline(i, mixed(m_theme.border, color, look.frame));
  breakFrame(pen, i, item.fallback && look.dashedInFallback);
  m_painter.setPen(pen);
  m_painter.setBrush(mixed(m_theme.container, color, look.tint));
  if (m_detail == Detail::Colors) {
    m_painter.drawRect(rect);
  } else {
    m_painter.drawRoundedRect(rect, metrics::kRadius + 3, metrics::kRadius + 3);
  }
  focusRing(i, rect);
}

// Covers the background behind the text of a header, so that edges that enter below it do not cross the text.
void CanvasPainter::veil(const QRectF& rect, const QColor& ground) {
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(ground);
  m_painter.drawRoundedRect(rect.adjusted(-6, -1, 6, 1), 5, 5);
}

namespace {

/// Returns the parts of the title and, in headers of one line, of the text after it that fit. The count at the end of
/// that text is kept longest. Titles are shortened in the middle, because they end with the number of repetitions.
std::pair<QString, QString> headerWords(const CanvasItem& item, const QFont& font, const QFont& restFont, double room,
                                        double gap) {
  const QFontMetricsF metrics(font), restMetrics(restFont);
  const auto title = [&](double width) {
    return metrics.elidedText(item.title, Qt::ElideMiddle, std::max(width, 0.0));
  };
  if (!item.container->look.oneLine) return {title(room), QString()};
  const QString dot = item.meta.isEmpty() || item.detail.isEmpty() ? QString() : QStringLiteral(" \u00b7 ");
  const double used = metrics.horizontalAdvance(item.title) + gap;
  for (const QString& rest : {item.detail + dot + item.meta, item.meta.isEmpty() ? item.detail : item.meta})
    if (used + restMetrics.horizontalAdvance(rest) <= room) return {item.title, rest};
  const double forMeta = restMetrics.horizontalAdvance(item.meta) + gap;
  if (!item.meta.isEmpty() && room - forMeta > room / 3) return {title(room - forMeta), item.meta};
  return {title(room), QString()};
}

}  // namespace

// Paints the header of a container. It stays visible as long as the container is: its text moves down with the upper
// edge of the view.
void CanvasPainter::header(int i) {
  const CanvasItem& item = m_scene.items[i];
  const QRectF rect = rectOf(i);
  const QColor color = m_look.colors->of(std::size_t(i)).fill;
  const bool far = m_detail != Detail::Full;
  if (far && rect.width() * m_scale < 90) return;
  const double grow = far ? std::max(1.0, pixels(11) / metrics::kTitlePixels) : 1.0;
  const ContainerLook& look = item.container->look;
  if (m_detail == Detail::Colors && !look.titleFromAfar) return;
  const QColor ground = mixed(m_theme.container, color, look.tint);
  const double height = look.header * (far ? 0.8 : 1);
  m_painter.save();
  m_painter.setClipRect(rect, Qt::IntersectClip);
  QFont font = titleFont();
  font.setPixelSize(int(std::lround(metrics::kTitlePixels * grow)));
  const double left = std::max(rect.left(), std::min(m_visible.left(), rect.right() - 220)) + 14;
  m_painter.setPen(m_theme.text);
  m_painter.setFont(font);
  const double titleHeight = QFontMetricsF(font).height();
  if (far && titleHeight > 1.2 * look.header) return m_painter.restore();  // the title would cover what is inside
  const double top = rect.top() + (look.oneLine ? std::max(pixels(5), (height - titleHeight) / 2) : 8);
  const QRectF line(left + 14 * grow, top, rect.right() - left - 24 * grow, titleHeight);
  QFont restFont = detailFont();
  restFont.setPixelSize(int(std::lround(metrics::kDetailPixels * grow)));
  const double besideTitle = look.oneLine || far ? 0 : typeBadgeWidth(i) + 8;
  const auto [title, rest] = headerWords(item, font, restFont, line.width() - besideTitle, 12 * grow);
  const double used = QFontMetricsF(font).horizontalAdvance(title);
  const double restWidth = look.oneLine ? QFontMetricsF(restFont).horizontalAdvance(rest) + 12 * grow : besideTitle;
  veil(QRectF(left - 4 * grow, line.top(), used + restWidth + 18 * grow, line.height()), ground);
  m_painter.setPen(m_theme.text);
  text(line, Qt::AlignLeft | Qt::AlignVCenter, title);
  marker(QPointF(left, line.center().y()), color, grow, item.fallback);
  if (look.oneLine) {
    m_painter.setFont(restFont);
    m_painter.setPen(m_theme.dimText);
    text(line.adjusted(used + 12 * grow, 0.5, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, rest);
  } else if (!far) {
    badge(QPointF(line.left() + used + restWidth, line.top()), i);
    QString below = item.detail;
    const QString time = m_look.colors->timeWords(static_cast<std::size_t>(i));
    if (!time.isEmpty()) below += QStringLiteral(" \u00b7 ") + time;
    below = QFontMetricsF(detailFont()).elidedText(below, Qt::ElideMiddle, rect.right() - left - 12);
    const QRectF second(left, line.bottom() + 1, rect.right() - left - 10, 16);
    veil(QRectF(second.topLeft(), QSizeF(QFontMetricsF(detailFont()).horizontalAdvance(below), 16)), ground);
    m_painter.setFont(detailFont());
    m_painter.setPen(m_theme.dimText);
    text(second, Qt::AlignLeft | Qt::AlignVCenter, below);
  }
  m_painter.restore();
  if (!far) badges(i, rect);
}

// Paints a triangle that points down and means that the container is open.
void CanvasPainter::marker(const QPointF& at, const QColor& color, double grow, bool hollow) {
  const double r = 4 * grow;
  m_painter.setPen(QPen(color, 1.2));
  m_painter.setBrush(hollow ? QBrush(Qt::NoBrush) : QBrush(color));
  m_painter.drawPolygon(QPolygonF({at + QPointF(-r, -r * 0.6), at + QPointF(r, -r * 0.6), at + QPointF(0, r * 0.8)}));
}

void CanvasPainter::focusRing(int i, const QRectF& rect) {
  if (i != m_look.current || !m_look.focus) return;
  m_painter.setBrush(Qt::NoBrush);
  m_painter.setPen(QPen(m_theme.accent, std::max(1.0, pixels(1)), Qt::DotLine));
  const double out = std::max(3.5, pixels(3));
  m_painter.drawRoundedRect(rect.adjusted(-out, -out, out, out), metrics::kRadius + out, metrics::kRadius + out);
}

// Marks the item where the displayed run first goes wrong with a frame and words, because colour alone is not enough.
void CanvasPainter::failureFrame(int i, const QRectF& rect) {
  if (i != m_look.failing) return;
  m_painter.setBrush(Qt::NoBrush);
  m_painter.setPen(QPen(m_theme.error, std::max(2.0, pixels(2))));
  const double out = std::max(2.0, pixels(2));
  m_painter.drawRoundedRect(rect.adjusted(-out, -out, out, out), metrics::kRadius + out, metrics::kRadius + out);
}

// Paints the words of failureFrame(). This is done last, so that no edge, mark or label covers them.
void CanvasPainter::failureText() {
  if (!hasWords() || m_look.failing < 0) return;
  if (m_scene.items[std::size_t(m_look.failing)].open) return;
  QFont font = failureFont();
  font.setPixelSize(legiblePixels(metrics::kDetailPixels));
  const QRectF place = failureWordsPlace(rectOf(m_look.failing), font.pixelSize());
  if (!meets(place)) return;
  m_painter.setFont(font);
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(m_theme.error);
  m_painter.drawRoundedRect(place, 4, 4);
  m_painter.setPen(readableOn(m_theme.error));
  text(place, Qt::AlignCenter, failureWords());
}

// ---- boxes -------------------------------------------------------------------------------------------------------
void CanvasPainter::box(int i) {
  const CanvasItem& item = m_scene.items[i];
  const QRectF rect = rectOf(i);
  QColor color = m_look.colors->of(std::size_t(i)).fill;
  if (isFaded(i)) color = mixed(color, m_theme.canvas, 0.72);
  if (m_detail == Detail::Colors) return farBox(i, rect, color);
  m_painter.setOpacity(m_look.from != nullptr && m_look.progress < 1 && (*m_look.from)[i].isNull() ? m_look.progress
                                                                                                   : 1);
  const bool pill = item.kind == ItemKind::Input || item.kind == ItemKind::Output;
  const double radius = pill ? rect.height() / 2 : metrics::kRadius;
  const double tint = m_detail == Detail::Names ? 0.30 : (m_theme.kind == ThemeKind::Dark ? 0.13 : 0.10);
  QPen pen = outline(i, mixed(m_theme.border, color, item.prediction || item.isUncertain() ? 0.9 : 0.5));
  breakFrame(pen, i, false);
  m_painter.setPen(pen);
  m_painter.setBrush(mixed(m_theme.box, color, i == m_look.hovered ? tint + 0.06 : tint));
  m_painter.drawRoundedRect(rect, radius, radius);
  if (!item.fate.isEmpty()) hatch(rect, radius);
  if (!pill) stripe(rect, color, i);
  focusRing(i, rect);
  failureFrame(i, rect);
  if (m_detail == Detail::Names) {
    nameOnly(item, rect, i);
  } else if (pill) {
    pillText(item, rect, i);
  } else {
    boxText(item, rect, i);
  }
  if (hasWords()) {
    badges(i, rect);
  } else {
    badgeCorner(i, rect);
  }
  m_painter.setOpacity(1);
}

// Fills the box of an item without a kernel of its own with a calm pattern that cannot be mistaken for a kernel.
void CanvasPainter::hatch(const QRectF& rect, double radius) {
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(QBrush(mixed(m_theme.box, m_theme.border, 0.8), Qt::BDiagPattern));
  m_painter.drawRoundedRect(rect, radius, radius);
}

void CanvasPainter::farBox(int i, const QRectF& rect, const QColor& color) {
  m_painter.fillRect(rect, i == m_look.failing ? m_theme.error : color);
  if (const QColor second = secondColor(i); second.isValid() && i != m_look.failing)
    m_painter.fillRect(QRectF(rect.topLeft(), QSizeF(rect.width() * kSecondShare, rect.height())), second);
  if (const CanvasItem& item = m_scene.items[std::size_t(i)]; item.isUncertain() && i != m_look.failing) {
    QBrush lines(readableOn(color), item.isGuessed() ? Qt::DiagCrossPattern : Qt::BDiagPattern);
    // The lines are equally dense at every zoom.
    lines.setTransform(QTransform::fromScale(pixels(1), pixels(1)));
    m_painter.fillRect(rect, lines);
  }
  badgeCorner(i, rect);
  if (!isSelected(i) && !isMatch(i) && i != m_look.current) return;
  m_painter.setBrush(Qt::NoBrush);
  m_painter.setPen(QPen(isMatch(i) && !isSelected(i) ? m_theme.match : m_theme.accent, pixels(2)));
  const double out = pixels(2);
  m_painter.drawRect(rect.adjusted(-out, -out, out, out));
}

QColor CanvasPainter::secondColor(int i) const {
  const QColor second = m_look.colors->of(std::size_t(i)).stripe;
  return second.isValid() && isFaded(i) ? mixed(second, m_theme.canvas, 0.72) : second;
}

// Paints the colour of an item at its left edge, the colour of a second type beside it, and a stack behind an item that
// can be opened.
void CanvasPainter::stripe(const QRectF& rect, const QColor& color, int i) {
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(color);
  const QRectF bar(rect.left() + 4, rect.top() + 8, metrics::kStripe, rect.height() - 16);
  m_painter.drawRoundedRect(bar, 2, 2);
  if (const QColor second = secondColor(i); second.isValid()) {
    m_painter.setBrush(second);
    m_painter.drawRect(QRectF(bar.right() + 1, bar.top() + 2, 2.5, bar.height() - 4));
  }
  const CanvasItem& item = m_scene.items[std::size_t(i)];
  if (!item.canOpen) return;
  m_painter.setPen(QPen(mixed(m_theme.border, color, 0.5), 1.0));
  if (item.block != nullptr && item.block->copies > 0) {  // equal blocks are drawn one behind the other
    m_painter.setBrush(Qt::NoBrush);
    for (const double out : {4.0, 8.0}) {
      const QPointF corner(rect.right() + out, rect.bottom() + out);
      m_painter.drawPolyline(
          QPolygonF({QPointF(rect.left() + out, rect.bottom() + out - 4), QPointF(rect.left() + out, corner.y()),
                     corner, QPointF(corner.x(), rect.top() + out), QPointF(corner.x() - 4, rect.top() + out)}));
    }
    return;
  }
  m_painter.drawLine(QPointF(rect.left() + 9, rect.bottom() + 3), QPointF(rect.right() - 9, rect.bottom() + 3));
}

void CanvasPainter::nameOnly(const CanvasItem& item, const QRectF& rect, int i) {
  QFont font = titleFont();
  const int most = std::max(metrics::kTitlePixels, int(0.8 * rect.height()));
  font.setPixelSize(std::clamp(int(std::lround(pixels(10.5))), metrics::kTitlePixels, most));
  m_painter.setFont(font);
  m_painter.setPen(isFaded(i) ? m_theme.dimText : m_theme.text);
  const bool pill = item.kind == ItemKind::Input || item.kind == ItemKind::Output;
  const QRectF room = rect.adjusted(metrics::kBoxPaddingX + 2, 2, -6, -2);
  const bool hasBadge = hasWords() && !pill;
  const double beside = hasBadge ? typeBadgeWidth(i) + 6 : hasWords() ? 0 : 0.8 * cornerSide(i, rect);
  if (hasBadge) {
    badge(rect.topRight() + QPointF(-9, 6), i);
    m_painter.setFont(font);
    m_painter.setPen(isFaded(i) ? m_theme.dimText : m_theme.text);
  }
  // A title of one line is below the badge, or left of the corner with the mark. A longer title begins beside the badge
  // if there is room for two lines.
  QRectF line = room;
  hasBadge ? line.setTop(rect.top() + 6 + badgeHeight()) : line.setRight(room.right() - beside);
  const double height = QFontMetricsF(font).height();
  const bool hasRoom = 2 * height <= room.height() && !pill;
  std::pair<QString, QString> lines;
  if (hasRoom && QFontMetricsF(font).horizontalAdvance(item.title) > line.width())
    lines = titleInTwoLines(item.title, font, room.width() - beside, room.width());
  if (lines.second.isEmpty())
    return text(line, Qt::AlignLeft | Qt::AlignVCenter, fittedTitle(item.title, font, line.width()));
  const double top = room.center().y() - height;
  text(QRectF(room.left(), top, room.width() - beside, height), Qt::AlignLeft | Qt::AlignVCenter, lines.first);
  text(QRectF(room.left(), top + height, room.width(), height), Qt::AlignLeft | Qt::AlignVCenter, lines.second);
}

void CanvasPainter::pillText(const CanvasItem& item, const QRectF& rect, int i) {
  m_painter.setPen(isFaded(i) ? m_theme.disabledText : m_theme.text);
  m_painter.setFont(titleFont());
  const QRectF room = rect.adjusted(14, 4, -14, -4);
  text(QRectF(room.left(), room.top(), room.width(), 17), Qt::AlignCenter, item.title);
  m_painter.setFont(metaFont());
  m_painter.setPen(isFaded(i) ? m_theme.disabledText : m_theme.dimText);
  text(QRectF(room.left(), room.bottom() - 14, room.width(), 14), Qt::AlignCenter, item.detail);
}

void CanvasPainter::boxText(const CanvasItem& item, const QRectF& rect, int i) {
  double top = rect.top() + 6;
  if (!item.stubs.isEmpty()) {
    stubs(item, rect);
    top += metrics::kStubRow;
  }
  const double left = rect.left() + metrics::kBoxPaddingX + metrics::kStripe;
  const double right = rect.right() - 9;
  m_painter.setFont(titleFont());
  m_painter.setPen(isFaded(i) ? m_theme.disabledText : m_theme.text);
  const double badgeRoom = std::max(metrics::kBadgeWidth, typeBadgeWidth(i));
  const QRectF titleRect(left, top, right - left - badgeRoom, 18);
  text(titleRect, Qt::AlignLeft | Qt::AlignVCenter,
       badgeRoom == metrics::kBadgeWidth ? item.title : fittedTitle(item.title, titleFont(), titleRect.width()));
  badge(QPointF(right, top + 1.5), i);
  const QColor dim = isFaded(i) ? m_theme.disabledText : m_theme.dimText;
  m_painter.setFont(detailFont());
  m_painter.setPen(dim);
  text(QRectF(left, top + 18, right - left, 15), Qt::AlignLeft | Qt::AlignVCenter, item.detail);
  m_painter.setFont(metaFont());
  const QString time = m_look.colors->timeWords(static_cast<std::size_t>(i));
  const double timeWidth = time.isEmpty() ? 0 : QFontMetricsF(metaFont()).horizontalAdvance(time) + metrics::kTimeGap;
  const QRectF metaRow(left, top + 34, right - left, 14);
  text(metaRow.adjusted(0, 0, -timeWidth, 0), Qt::AlignLeft | Qt::AlignVCenter,
       timeWidth == 0 ? item.meta
                      : QFontMetricsF(metaFont()).elidedText(item.meta, Qt::ElideMiddle, metaRow.width() - timeWidth));
  if (time.isEmpty()) return;
  const TimeKind kind = m_look.colors->time(static_cast<std::size_t>(i)).kind;
  QFont font = metaFont();
  font.setItalic(kind != TimeKind::Measured);
  m_painter.setFont(font);
  m_painter.setPen(kind == TimeKind::Measured ? m_theme.text : m_theme.dimText);
  text(metaRow, Qt::AlignRight | Qt::AlignVCenter, time);
}

// Paints the names of shared inputs, each with the end of its wire.
void CanvasPainter::stubs(const CanvasItem& item, const QRectF& rect) {
  const QFontMetricsF font(metaFont());
  double x = rect.left() + metrics::kBoxPaddingX + metrics::kStripe;
  for (const QString& stub : stubLabels(item)) {
    const double width = font.horizontalAdvance(stub) + metrics::kStubPadding;
    m_painter.setPen(QPen(m_theme.edge, 1.4));
    m_painter.drawLine(QPointF(x + 7, rect.top() - 7), QPointF(x + 7, rect.top() + 5));
    m_painter.setBrush(m_theme.edge);
    m_painter.drawEllipse(QPointF(x + 7, rect.top() - 8), 2, 2);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(mixed(m_theme.box, m_theme.edge, 0.25));
    m_painter.drawRoundedRect(QRectF(x, rect.top() + 5, width, 15), 4, 4);
    m_painter.setFont(metaFont());
    m_painter.setPen(m_theme.dimText);
    text(QRectF(x, rect.top() + 5, width, 15), Qt::AlignCenter, stub);
    x += width + metrics::kStubGap;
  }
}

void paintCanvas(QPainter& painter, const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                 double scale) {
  CanvasPainter(painter, scene, look, visible, scale).paint();
}

}  // namespace fusescope
