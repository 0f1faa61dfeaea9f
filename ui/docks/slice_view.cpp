#include "ui/docks/slice_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "session/runs/tensor_statistics.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr double kTitleHeight = 18, kScaleHeight = 26, kBarHeight = 7;
/// The largest size of a cell along an axis that has more room.
constexpr double kLargestCell = 24;
/// The most marked cells that get a frame if they are smaller than a frame, and the least size of a frame. More frames
/// would cover each other; the cells are then recognised by their colour.
constexpr std::size_t kMostFrames = 24;
constexpr double kLeastFrame = 7;
/// The least size of a cell, in pixels, that gets a line around it.
constexpr double kCellWithLine = 9;

QColor negativeColor(const Theme& theme) {
  return theme.kind == ThemeKind::Dark ? QColor(86, 160, 255) : QColor(20, 88, 196);
}

QColor positiveColor(const Theme& theme) {
  return theme.kind == ThemeKind::Dark ? QColor(255, 164, 66) : QColor(190, 84, 0);
}

}  // namespace

SliceView::SliceView(std::function<const Theme&()> theme, QWidget* parent)
    : QWidget(parent), m_theme(std::move(theme)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(QStringLiteral("Slice of the tensor"));
}

bool SliceView::overflows(double number) const {
  return m_mark != DataType::Undefined && fateIn(m_mark, number) == NarrowFate::Overflows;
}

void SliceView::setSlice(const QString& title, std::shared_ptr<const TensorSlice> slice, double scale, DataType mark) {
  m_title = title;
  m_slice = std::move(slice);
  m_scale = scale > 0 ? scale : 1;
  m_mark = mark;
  m_marked.clear();
  for (std::int64_t row = 0; row < m_slice->cellRows; ++row) {
    for (std::int64_t column = 0; column < m_slice->cellColumns; ++column) {
      const double number = m_slice->numbers[m_slice->cell(row, column)];
      if (!std::isfinite(number) || overflows(number))
        m_marked.emplace_back(static_cast<int>(column), static_cast<int>(row));
    }
  }
  m_imageTheme.reset();
  setCurrent(imagePlace().isEmpty() ? QPoint(-1, -1) : m_current);
  setAccessibleName(QStringLiteral("Slice of the tensor: %1").arg(title));
  update();
}

void SliceView::clear(const QString& hint) {
  m_slice.reset();
  m_marked.clear();
  m_hint = hint;
  m_current = {-1, -1};
  setAccessibleDescription(hint);
  update();
}

void SliceView::setCurrent(QPoint cell) {
  const bool isThere =
      m_slice && cell.x() >= 0 && cell.y() >= 0 && cell.x() < m_slice->cellColumns && cell.y() < m_slice->cellRows;
  m_current = isThere ? cell : QPoint(-1, -1);
  QString said;
  if (m_slice)
    said = QStringLiteral("%1 rows, %2 columns, %3 marked")
               .arg(m_slice->rows)
               .arg(m_slice->columns)
               .arg(static_cast<qulonglong>(m_marked.size()));
  if (isThere)
    said += QStringLiteral("; row %1, column %2: %3")
                .arg(cell.y())
                .arg(cell.x())
                .arg(m_slice->numbers[m_slice->cell(cell.y(), cell.x())], 0, 'g', 6);
  setAccessibleDescription(said);
  update();
}

QRectF SliceView::field() const {
  return QRectF(rect()).adjusted(1, kTitleHeight, -1, -kScaleHeight);
}

/// Cells are as wide and high as the room permits if there are many along both axes. A single row is limited in height.
QRectF SliceView::imagePlace() const {
  if (!m_slice || m_slice->cellRows == 0 || m_slice->cellColumns == 0) return {};
  const QRectF inside = field();
  const auto columns = static_cast<double>(m_slice->cellColumns), rows = static_cast<double>(m_slice->cellRows);
  const double square = std::min(inside.width() / columns, inside.height() / rows);
  const double width = std::min(inside.width() / columns, std::max(square, kLargestCell)) * columns;
  const double height = std::min(inside.height() / rows, std::max(square, kLargestCell)) * rows;
  return {inside.topLeft(), QSizeF(std::max(0.0, width), std::max(0.0, height))};
}

QRectF SliceView::placeOf(QPoint cell) const {
  const QRectF image = imagePlace();
  if (image.isEmpty()) return {};
  const double width = image.width() / static_cast<double>(m_slice->cellColumns);
  const double height = image.height() / static_cast<double>(m_slice->cellRows);
  return {image.left() + cell.x() * width, image.top() + cell.y() * height, width, height};
}

QPoint SliceView::cellAt(const QPointF& place) const {
  const QRectF image = imagePlace();
  if (!image.contains(place)) return {-1, -1};
  const double column = (place.x() - image.left()) / image.width() * static_cast<double>(m_slice->cellColumns);
  const double row = (place.y() - image.top()) / image.height() * static_cast<double>(m_slice->cellRows);
  return {std::min(static_cast<int>(column), static_cast<int>(m_slice->cellColumns) - 1),
          std::min(static_cast<int>(row), static_cast<int>(m_slice->cellRows) - 1)};
}

QColor SliceView::colorOf(double number) const {
  const Theme& theme = m_theme();
  if (!std::isfinite(number)) return theme.error;
  if (overflows(number)) return theme.warning;
  const double strength = std::sqrt(std::min(1.0, std::abs(number) / m_scale));
  return mixed(theme.base, number < 0 ? negativeColor(theme) : positiveColor(theme), strength);
}

void SliceView::renewImage() const {
  if (m_imageTheme == m_theme().kind) return;
  m_imageTheme = m_theme().kind;
  m_image = QImage(static_cast<int>(m_slice->cellColumns), static_cast<int>(m_slice->cellRows), QImage::Format_RGB32);
  for (int row = 0; row < m_image.height(); ++row) {
    auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row));
    for (int column = 0; column < m_image.width(); ++column)
      line[column] = colorOf(m_slice->numbers[m_slice->cell(row, column)]).rgb();
  }
}

void SliceView::paintMarks(QPainter& painter) const {
  const Theme& theme = m_theme();
  painter.setBrush(Qt::NoBrush);
  const QRectF cell = placeOf({0, 0});
  const double more = std::max(0.0, kLeastFrame - std::min(cell.width(), cell.height())) / 2;
  if (more > 0 && m_marked.size() > kMostFrames) return;
  for (const QPoint& marked : m_marked) {
    const QRectF place = placeOf(marked).adjusted(-more, -more, more, more);
    const double number = m_slice->numbers[m_slice->cell(marked.y(), marked.x())];
    painter.setPen(QPen(std::isfinite(number) ? theme.warning : theme.error, 1.5));
    painter.drawRect(place);
    painter.setPen(QPen(theme.text, 1));
    if (more > 0) continue;
    if (std::isnan(number)) painter.drawLine(place.topLeft(), place.bottomRight());
    if (std::isnan(number) || std::isinf(number)) painter.drawLine(place.bottomLeft(), place.topRight());
  }
}

void SliceView::paintScale(QPainter& painter) const {
  const Theme& theme = m_theme();
  const QRectF bar(field().left(), height() - kScaleHeight + 4, field().width(), kBarHeight);
  QLinearGradient gradient(bar.topLeft(), bar.topRight());
  constexpr int kStops = 16;
  for (int i = 0; i <= kStops; ++i) {
    const double share = static_cast<double>(i) / kStops, number = (2 * share - 1) * m_scale;
    const double strength = std::sqrt(std::abs(number) / m_scale);
    gradient.setColorAt(share, mixed(theme.base, number < 0 ? negativeColor(theme) : positiveColor(theme), strength));
  }
  painter.fillRect(bar, gradient);
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(bar);
  painter.setPen(theme.dimText);
  const QRectF below(bar.left(), bar.bottom(), bar.width(), 15);
  const QString most = QString::number(m_scale, 'g', 3), least = QString::number(-m_scale, 'g', 3);
  painter.drawText(below, Qt::AlignLeft | Qt::AlignVCenter, least);
  if (bar.width() > 2.5 * (painter.fontMetrics().horizontalAdvance(least) + painter.fontMetrics().averageCharWidth()))
    painter.drawText(below, Qt::AlignCenter, QStringLiteral("0"));
  painter.drawText(below, Qt::AlignRight | Qt::AlignVCenter, most);
}

void SliceView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = m_theme();
  painter.setFont(uiFont(8.5));
  if (!m_slice) {
    painter.setPen(theme.dimText);
    painter.drawText(rect().adjusted(4, 4, -4, -4), Qt::AlignCenter | Qt::TextWordWrap, m_hint);
    return;
  }
  painter.setPen(theme.text);
  painter.drawText(QRectF(1, 0, width() - 2, kTitleHeight), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_title, Qt::ElideRight, width() - 2));
  renewImage();
  const QRectF image = imagePlace();
  painter.drawImage(image, m_image);
  const QRectF cell = placeOf({0, 0});
  if (std::min(cell.width(), cell.height()) >= kCellWithLine) {
    painter.setPen(QPen(theme.border, 1));
    for (std::int64_t column = 0; column <= m_slice->cellColumns; ++column)
      painter.drawLine(QPointF(image.left() + static_cast<double>(column) * cell.width(), image.top()),
                       QPointF(image.left() + static_cast<double>(column) * cell.width(), image.bottom()));
    for (std::int64_t row = 0; row <= m_slice->cellRows; ++row)
      painter.drawLine(QPointF(image.left(), image.top() + static_cast<double>(row) * cell.height()),
                       QPointF(image.right(), image.top() + static_cast<double>(row) * cell.height()));
  }
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(image);
  painter.setRenderHint(QPainter::Antialiasing);
  paintMarks(painter);
  if (m_current.x() >= 0) {
    QRectF place = placeOf(m_current);
    const double more = std::max(2.0, (kLeastFrame - std::min(place.width(), place.height())) / 2);
    place.adjust(-more, -more, more, more);
    painter.setPen(QPen(theme.base, 4));
    painter.drawRect(place);
    painter.setPen(QPen(hasFocus() ? theme.accent : theme.text, 1.5));
    painter.drawRect(place);
  }
  paintScale(painter);
}

void SliceView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint cell = cellAt(event->localPos());
  if (cell != m_current) emit pointedAt(cell);
}

void SliceView::mousePressEvent(QMouseEvent* event) {
  emit pointedAt(cellAt(event->localPos()));
}

void SliceView::leaveEvent(QEvent*) {
  if (!hasFocus()) emit pointedAt({-1, -1});
}

void SliceView::keyPressEvent(QKeyEvent* event) {
  if (!m_slice || m_slice->numbers.empty()) return QWidget::keyPressEvent(event);
  QPoint cell(std::max(0, m_current.x()), std::max(0, m_current.y()));
  switch (event->key()) {
    case Qt::Key_Left:
      cell.rx() -= m_current.x() < 0 ? 0 : 1;
      break;
    case Qt::Key_Right:
      cell.rx() += m_current.x() < 0 ? 0 : 1;
      break;
    case Qt::Key_Up:
      cell.ry() -= m_current.x() < 0 ? 0 : 1;
      break;
    case Qt::Key_Down:
      cell.ry() += m_current.x() < 0 ? 0 : 1;
      break;
    case Qt::Key_Home:
      cell = {0, 0};
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  emit pointedAt({std::clamp(cell.x(), 0, static_cast<int>(m_slice->cellColumns) - 1),
                  std::clamp(cell.y(), 0, static_cast<int>(m_slice->cellRows) - 1)});
}

bool SliceView::event(QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

}  // namespace fusescope
