#include <QPainterPath>
#include <algorithm>

#include "ir/graph.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_painter.h"
#include "ui/canvas/edge_labels.h"

namespace fusescope {
namespace {

constexpr double kKernelMargin = 8;  ///< the distance of a kernel's frame from its nodes, in units of the scene
constexpr double kChipHeight = 17, kChipPadding = 12;  ///< in pixels
constexpr int kChipPixels = 11;
constexpr double kLeastChip = 46;  ///< the least width in pixels of a box that gets words

QString signText(DiffSign sign, bool isA) {
  if (sign == DiffSign::Changed) return QStringLiteral("~ ");
  const bool isOfA = (sign == DiffSign::OnlyHere) == isA;
  return isOfA ? QStringLiteral("\u2212 ") : QStringLiteral("+ ");
}

QPainterPath curveOf(const CanvasCurves::Points& points) {
  QPainterPath path;
  if (points.empty()) return path;
  path.moveTo(points[0]);
  for (std::size_t p = 0; p + 3 < points.size(); p += 3) path.cubicTo(points[p + 1], points[p + 2], points[p + 3]);
  return path;
}

}  // namespace

bool CanvasPainter::fadesInOverlay(int i) const {
  if (m_look.overlay == nullptr) return false;
  const DiffSign sign = m_look.overlay->of(i);
  return sign == DiffSign::Equal || sign == DiffSign::OnlyThere;
}

QColor CanvasPainter::diffColor(DiffSign sign) const {
  if (sign == DiffSign::Changed) return m_theme.warning;
  const bool isOfA = (sign == DiffSign::OnlyHere) == m_look.overlay->isA;
  return isOfA ? m_theme.error : m_theme.success;
}

QPen CanvasPainter::comparedPen(int edge, const QPen& usual) const {
  if (m_look.overlay == nullptr) return usual;
  QPen pen = usual;
  const DiffSign sign = m_look.overlay->edges[std::size_t(edge)];
  const CanvasEdge& ends = m_scene.edges[std::size_t(edge)];
  if (sign == DiffSign::OnlyHere) pen.setColor(diffColor(sign));
  if (sign == DiffSign::OnlyThere) pen.setStyle(Qt::DashLine);
  if (sign == DiffSign::OnlyThere || (sign == DiffSign::Equal && fadesInOverlay(ends.from) && fadesInOverlay(ends.to)))
    pen.setColor(mixed(usual.color(), m_theme.canvas, 0.55));
  return pen;
}

// Returns the area between two boxes of one kernel of which one is above the other, or an empty rectangle if they are
// not.
QRectF CanvasPainter::bridgeOf(int edge) const {
  constexpr double kMostApart = 140;
  const QRectF from = rectOf(m_scene.edges[std::size_t(edge)].from), to = rectOf(m_scene.edges[std::size_t(edge)].to);
  const double left = std::max(from.left(), to.left()), right = std::min(from.right(), to.right());
  const double gap = to.top() - from.bottom();
  if (right <= left || gap <= 0 || gap > kMostApart) return {from.center().x(), from.bottom(), 0, 0};
  return {left, from.bottom(), right - left, gap};
}

// Paints all parts of a kernel in the colour of its outline, and then again, a little smaller, in the colour of its
// ground. What remains visible is one outline around all parts.
void CanvasPainter::kernelFrames() {
  if (m_look.overlay == nullptr) return;
  for (const CanvasOverlay::Kernel& kernel : m_look.overlay->kernels) {
    QRectF around;
    for (const int i : kernel.items) around |= rectOf(i);
    if (!meets(around.adjusted(-20, -30, 20, 20))) continue;
    const QColor color = m_look.colors->of(std::size_t(kernel.colorOf)).fill;
    const double line = std::max(2.0, pixels(1.5));
    const auto draw = [&](double margin, const QColor& fill) {
      m_painter.setBrush(Qt::NoBrush);
      m_painter.setPen(QPen(fill, 2 * margin, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
      for (const int e : kernel.edges) m_painter.drawPath(curveOf(m_scene.curves.of(e)));
      m_painter.setPen(Qt::NoPen);
      m_painter.setBrush(fill);
      for (const int e : kernel.edges) m_painter.drawRect(bridgeOf(e).adjusted(-margin, 0, margin, 0));
      for (const int i : kernel.items)
        m_painter.drawRoundedRect(rectOf(i).adjusted(-margin, -margin, margin, margin), metrics::kRadius + margin,
                                  metrics::kRadius + margin);
    };
    draw(kKernelMargin + line, mixed(m_theme.border, color, 0.85));
    draw(kKernelMargin, mixed(m_theme.container, color, m_theme.kind == ThemeKind::Dark ? 0.32 : 0.24));
  }
}

// The label is at the left of the lower edge of the frame, because edges leave in the middle and the group's header is
// above.
void CanvasPainter::kernelLabels() {
  if (m_look.overlay == nullptr || m_detail != Detail::Full) return;
  m_painter.setFont(metaFont());
  const QFontMetricsF font(metaFont());
  for (const CanvasOverlay::Kernel& kernel : m_look.overlay->kernels) {
    if (kernel.items.empty()) continue;
    const int last = *std::ranges::max_element(kernel.items, {}, [&](int i) { return rectOf(i).bottom(); });
    const QRectF box = rectOf(last);
    const QString words = font.elidedText(kernel.label, Qt::ElideMiddle, box.width() + 60);
    const QRectF place(box.left() - kKernelMargin, box.bottom() + kKernelMargin - 8, font.horizontalAdvance(words) + 10,
                       15);
    if (!meets(place)) continue;
    const QColor color = mixed(m_theme.border, m_look.colors->of(std::size_t(kernel.colorOf)).fill, 0.85);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(color);
    m_painter.drawRoundedRect(place, 4, 4);
    m_painter.setPen(readableOn(color));
    m_painter.drawText(place, Qt::AlignCenter, words);
  }
}

// Paints frames with the same width at every zoom, so that differences are visible in the whole network.
void CanvasPainter::diffMarks() {
  if (m_look.overlay == nullptr) return;
  std::vector<QRectF> taken;
  for (const int i : m_scene.itemIndex.meeting(m_visible)) {
    const DiffSign sign = m_look.overlay->of(i);
    if (sign == DiffSign::Equal || sign == DiffSign::Within) continue;
    const QRectF rect = rectOf(i);
    const QColor color = diffColor(sign);
    const double out = pixels(3);
    m_painter.setBrush(Qt::NoBrush);
    m_painter.setPen(QPen(color, pixels(sign == DiffSign::OnlyThere ? 1.5 : 2.5),
                          sign == DiffSign::OnlyThere ? Qt::DashLine : Qt::SolidLine));
    const double radius = m_detail == Detail::Colors ? 0 : metrics::kRadius + out;
    m_painter.drawRoundedRect(rect.adjusted(-out, -out, out, out), radius, radius);
    // The title of an open container contains these words already.
    const bool isTitled = m_scene.items[std::size_t(i)].open && m_detail == Detail::Full;
    if (!isTitled) diffChip(rect, sign, m_look.overlay->words.value(i), taken);
  }
  for (const int e : m_edges) {
    const auto conversion = m_look.overlay->conversions.find(e);
    const CanvasCurves::Points points = m_scene.curves.of(e);
    if (conversion == m_look.overlay->conversions.end() || points.size() < 4) continue;
    const QPointF at = edgePoint(points, 0.5);
    const QRectF beside(at + QPointF(pixels(6), pixels(-4)), QSizeF(pixels(kLeastChip), 0));
    diffChip(beside, conversion->sign, conversion->words, taken);
  }
}

// Paints words with the same size at every zoom at the upper right corner of an item that is large enough.
void CanvasPainter::diffChip(const QRectF& rect, DiffSign sign, const QString& words, std::vector<QRectF>& taken) {
  if (rect.width() * m_scale < kLeastChip - 0.5) return;
  QFont font = badgeFont();
  font.setPixelSize(kChipPixels);
  const QFontMetricsF metrics(font);
  QString text = signText(sign, m_look.overlay->isA) + words;
  double width = metrics.horizontalAdvance(text) + kChipPadding;
  if (width > std::max(rect.width() * m_scale, 150.0)) {
    text = metrics.elidedText(text, Qt::ElideMiddle, std::max(rect.width() * m_scale, 150.0));
    width = metrics.horizontalAdvance(text) + kChipPadding;
  }
  const QSizeF size(pixels(width), pixels(kChipHeight));
  // Edges enter in the middle of the upper side, so that the words stay right of it.
  double left = std::max(rect.right() - size.width() + pixels(4), rect.center().x() + pixels(10));
  // If the beginning of the words would be visible, they are moved so that their end is visible as well.
  if (m_visible.intersects(rect)) left = std::max(std::min(left, m_visible.right() - size.width()), m_visible.left());
  const QRectF place(QPointF(left, rect.top() - size.height() + pixels(2)), size);
  if (!meets(place) || std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(place); })) return;
  taken.push_back(place);
  const QColor color = diffColor(sign);
  m_painter.save();
  m_painter.setRenderHint(QPainter::Antialiasing);
  m_painter.translate(place.topLeft());
  m_painter.scale(1 / m_scale, 1 / m_scale);
  const QRectF chip(QPointF(), QSizeF(width, kChipHeight));
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(color);
  m_painter.drawRoundedRect(chip, 4, 4);
  m_painter.setFont(font);
  m_painter.setPen(readableOn(color));
  m_painter.drawText(chip, Qt::AlignCenter, text);
  m_painter.restore();
}

}  // namespace fusescope
