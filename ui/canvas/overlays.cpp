#include "ui/canvas/overlays.h"

#include <QLinearGradient>
#include <QMouseEvent>
#include <QPainter>
#include <QTransform>
#include <QtMath>
#include <algorithm>

#include "ui/canvas/canvas_metrics.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr int kRow = 18, kInset = 9, kTitleRow = 18, kChip = 34;
constexpr int kMapWidth = 168, kMapHeight = 190, kMapMargin = 6;
constexpr double kLeastPart = 5;

void paintCard(QPainter& painter, const QRect& rect, const Theme& theme) {
  QColor back = theme.window;
  back.setAlphaF(0.93);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(back);
  painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7);
}

QFont legendTitleFont() {
  QFont font = detailFont();
  font.setWeight(QFont::DemiBold);
  return font;
}

/// The items of the scene, in a picture of `size` whose pixels are 1 / `ratio` large.
QImage mapOf(const CanvasScene& scene, const CanvasColors& colors, QSize size, double ratio, const QTransform& toMap) {
  QImage picture(size * ratio, QImage::Format_ARGB32_Premultiplied);
  picture.setDevicePixelRatio(ratio);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  for (std::size_t i = 0; i < scene.items.size(); ++i) {
    QRectF rect = toMap.mapRect(scene.rects[i]);
    if (scene.items[i].open) {
      painter.setPen(QPen(colors.theme().border, 1));
      painter.setBrush(colors.theme().container);
      painter.drawRect(rect);
    } else {
      rect.setWidth(std::max(rect.width(), 1.5));
      rect.setHeight(std::max(rect.height(), 1.0));
      painter.fillRect(rect, colors.of(i).fill);
    }
  }
  return picture;
}

constexpr const char* kPredictionNote = "dashed: predicted fusion";
constexpr const char* kUncertainNote = "dashed: holds nodes that its compiler does not name";
constexpr const char* kWithoutKernelNote = "hatched: has no kernel of its own";

}  // namespace

LegendWidget::LegendWidget(QWidget* parent) : QWidget(parent), m_theme(Theme::dark()) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
}

void LegendWidget::show(const ColorMode& mode, const CanvasColors& colors, const QString& said) {
  m_timeScale = mode.legend == LegendOf::Times;
  m_lines = colors.legend();
  m_slowestMs = colors.slowestMs;
  m_theme = colors.theme();
  m_title = tr(mode.title);
  const QFontMetricsF font(detailFont());
  double width = QFontMetricsF(legendTitleFont()).horizontalAdvance(m_title);
  QStringList spoken;
  const int most = 12;
  if (int(m_lines.size()) > most) m_lines.resize(most);
  for (const Swatch& swatch : m_lines) {
    width = std::max(width, (swatch.label.isEmpty() ? 14 : kChip) + 8 + font.horizontalAdvance(swatch.text));
    spoken << swatch.text;
  }
  int rows = int(m_lines.size());
  if (m_timeScale) {
    width = std::max(width, 170.0);
    rows = 2;
  }
  m_notes = colors.notes;
  if (colors.anyPrediction) m_notes << tr(kPredictionNote);
  if (colors.anyUncertain) m_notes << tr(kUncertainNote);
  if (colors.anyWithoutKernel) m_notes << tr(kWithoutKernelNote);
  if (!said.isEmpty()) m_notes << said;
  for (const QString& note : m_notes) width = std::max(width, font.horizontalAdvance(note));
  spoken << m_notes;
  rows += m_notes.size();
  m_size = QSize(int(width) + 2 * kInset + 2, kTitleRow + rows * kRow + 2 * kInset - 4);
  setAccessibleName(tr("Legend: colour by %1").arg(m_title.toLower()));
  setAccessibleDescription(spoken.join(", "));
  resize(m_size);
  update();
}

void LegendWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, rect(), m_theme);
  painter.setFont(legendTitleFont());
  painter.setPen(m_theme.dimText);
  painter.drawText(QRect(kInset, kInset - 3, width() - 2 * kInset, kTitleRow), Qt::AlignLeft | Qt::AlignVCenter,
                   m_title);
  painter.setFont(detailFont());
  int bottom = height() - kInset - m_notes.size() * kRow + 4;
  for (const QString& note : m_notes) {
    painter.drawText(QRect(kInset, bottom, width(), kRow), Qt::AlignLeft | Qt::AlignVCenter, note);
    bottom += kRow;
  }
  if (m_timeScale) return paintScale(painter);
  int y = kInset + kTitleRow - 2;
  for (const Swatch& swatch : m_lines) {
    const int chip = swatch.label.isEmpty() ? 14 : kChip;
    painter.setPen(Qt::NoPen);
    painter.setBrush(swatch.color);
    painter.drawRoundedRect(QRectF(kInset, y + 2, chip, 14), 4, 4);
    QFont font = metaFont();
    font.setBold(true);
    painter.setFont(font);
    painter.setPen(readableOn(swatch.color));
    painter.drawText(QRectF(kInset, y + 2, chip, 14), Qt::AlignCenter, swatch.label);
    painter.setFont(detailFont());
    painter.setPen(m_theme.text);
    painter.drawText(QRect(kInset + chip + 8, y, width(), kRow), Qt::AlignLeft | Qt::AlignVCenter, swatch.text);
    y += kRow;
  }
}

void LegendWidget::paintScale(QPainter& painter) const {
  const QRectF bar(kInset, kInset + kTitleRow, width() - 2 * kInset, 12);
  painter.setFont(detailFont());
  painter.setPen(m_theme.text);
  const QRectF below(bar.left(), bar.bottom() + 2, bar.width(), kRow);
  if (m_slowestMs <= 0) {
    painter.drawText(QRectF(bar.left(), bar.top() - 2, bar.width(), kRow), Qt::AlignLeft, tr("nothing measured yet"));
    return;
  }
  QLinearGradient gradient(bar.topLeft(), bar.topRight());
  for (int i = 0; i <= 10; ++i) gradient.setColorAt(i / 10.0, heatColor(i / 10.0, m_theme));
  painter.setPen(Qt::NoPen);
  painter.setBrush(gradient);
  painter.drawRoundedRect(bar, 4, 4);
  painter.setPen(m_theme.text);
  painter.drawText(below, Qt::AlignLeft, "0");
  painter.drawText(below, Qt::AlignRight, msText(m_slowestMs));
}

MinimapWidget::MinimapWidget(QWidget* parent) : QWidget(parent), m_theme(Theme::dark()) {
  setFocusPolicy(Qt::NoFocus);
  setCursor(Qt::PointingHandCursor);
  setAccessibleName(tr("Overview of the graph"));
  resize(kMapWidth, kMapHeight);
}

void MinimapWidget::setScene(std::shared_ptr<const CanvasScene> scene, const CanvasColors& colors) {
  if (scene != m_scene) m_picture = QImage();
  m_scene = std::move(scene);
  m_theme = colors.theme();
  if (m_scene && !m_scene->bounds.isEmpty()) {
    const QRectF& bounds = m_scene->bounds;
    const double aspect = bounds.width() / bounds.height();
    const int room = aspect > 1.4 ? kMapHeight * 3 / 4 : kMapHeight;
    const int width = std::clamp(int((room - 2 * kMapMargin) * aspect) + 2 * kMapMargin, 64, kMapWidth);
    const int height = std::clamp(int((width - 2 * kMapMargin) / aspect) + 2 * kMapMargin, 48, kMapHeight);
    resize(width, height);
    m_scale = {(width - 2.0 * kMapMargin) / bounds.width(), (height - 2.0 * kMapMargin) / bounds.height()};
    const auto toMap = QTransform::fromScale(m_scale.width(), m_scale.height()) *
                       QTransform::fromTranslate(kMapMargin - bounds.left() * m_scale.width(),
                                                 kMapMargin - bounds.top() * m_scale.height());
    m_jobs.run(
        QStringLiteral("draw the overview"), this,
        [scene = m_scene, colors, size = size(), ratio = devicePixelRatioF(), toMap](const StopToken&) {
          return mapOf(*scene, colors, size, ratio, toMap);
        },
        [this](const QImage& picture) {
          m_picture = picture;
          update();
        });
  }
  update();
}

QPointF MinimapWidget::toMap(const QPointF& point) const {
  const QPointF from = point - m_scene->bounds.topLeft();
  return {from.x() * m_scale.width() + kMapMargin, from.y() * m_scale.height() + kMapMargin};
}

void MinimapWidget::setVisiblePart(const QRectF& part) {
  m_part = part;
  update();
}

void MinimapWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, rect(), m_theme);
  if (!m_scene) return;
  painter.drawImage(0, 0, m_picture);
  const QRectF inner = QRectF(rect()).adjusted(2, 2, -2, -2);
  QRectF part(toMap(m_part.topLeft()), toMap(m_part.bottomRight()));
  if (part.height() < kLeastPart) part.adjust(0, (part.height() - kLeastPart) / 2, 0, (kLeastPart - part.height()) / 2);
  part = part.intersected(inner);
  QColor veil = m_theme.accent;
  veil.setAlphaF(0.14);
  painter.setBrush(veil);
  painter.setPen(QPen(m_theme.accent, 1.2));
  painter.drawRoundedRect(part, 2, 2);
}

void MinimapWidget::moveTo(const QPointF& position) {
  if (!m_scene) return;
  const QPointF from = position - QPointF(kMapMargin, kMapMargin);
  emit centreWanted(m_scene->bounds.topLeft() + QPointF(from.x() / m_scale.width(), from.y() / m_scale.height()));
}
void MinimapWidget::mousePressEvent(QMouseEvent* event) {
  moveTo(event->localPos());
}
void MinimapWidget::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) moveTo(event->localPos());
}

}  // namespace fusescope
