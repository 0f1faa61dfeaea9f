#include "ui/canvas/overlays.h"

#include <QMouseEvent>
#include <QPainter>
#include <QTransform>
#include <QtMath>
#include <algorithm>

#include "ui/canvas/legend.h"

namespace fusescope {
namespace {

constexpr int kMapWidth = 168, kMapHeight = 190, kMapMargin = 6;
constexpr double kLeastPart = 5;

/// Paints the items of the scene into a picture of `size`, with `ratio` device pixels for each pixel.
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

}  // namespace

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
  QColor veil = m_theme.text;
  veil.setAlphaF(0.10);
  painter.setBrush(veil);
  painter.setPen(QPen(m_theme.text, 1.2));
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
