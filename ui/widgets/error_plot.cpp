#include "ui/widgets/error_plot.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QLineF>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr double kLeft = 62, kRight = 14, kTop = 14, kBottom = 40, kPointRadius = 3.5;
constexpr double kReach = 12;  ///< the distance within which a point reacts to the mouse
/// The distance, in decades, of infinite and of exact results from the others.
constexpr double kBeyond = 0.6;

}  // namespace

std::vector<int> frontOf(const std::vector<PlotPoint>& points) {
  std::vector<int> order(points.size()), front;
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](int i) -> const PlotPoint& { return points[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(
      order, [&](int a, int b) { return std::pair(at(a).across, at(a).error) < std::pair(at(b).across, at(b).error); });
  for (const int i : order)
    if (std::isfinite(at(i).error) && (front.empty() || at(i).error < at(front.back()).error)) front.push_back(i);
  return front;
}

ErrorPlot::ErrorPlot(std::function<const Theme&()> theme, QWidget* parent)
    : QWidget(parent), m_theme(std::move(theme)) {
  setAccessibleName(QStringLiteral("Error against cost"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  rescale();
  describe();
}

void ErrorPlot::setContent(ErrorPlotContent content) {
  m_content = std::move(content);
  m_current = m_hovered = -1;
  rescale();
  describe();
  update();
}

void ErrorPlot::setCurrent(int point) {
  m_current = point;
  describe();
  update();
}

void ErrorPlot::describe() {
  QStringList said;
  for (std::size_t i = 0; i < m_content.points.size(); ++i)
    said << m_content.points[i].words + (static_cast<int>(i) == m_current ? QStringLiteral(" (chosen)") : QString());
  setAccessibleDescription(said.isEmpty() ? m_content.none : said.join(QStringLiteral("; ")));
}

int ErrorPlot::pointAt(const QPointF& place) const {
  int nearest = -1;
  double least = kReach;
  for (std::size_t i = 0; i < m_content.points.size(); ++i) {
    const double distance = QLineF(place, placeOf(m_content.points[i])).length();
    if (distance >= least) continue;
    least = distance;
    nearest = static_cast<int>(i);
  }
  return nearest;
}

std::vector<int> ErrorPlot::inOrder() const {
  std::vector<int> order(m_content.points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [this](int point) { return m_content.points[static_cast<std::size_t>(point)].across; });
  return order;
}

void ErrorPlot::mousePressEvent(QMouseEvent* event) {
  const int point = event->button() == Qt::LeftButton ? pointAt(event->localPos()) : -1;
  if (point >= 0) emit chosen(point);
}

void ErrorPlot::mouseMoveEvent(QMouseEvent* event) {
  const int point = pointAt(event->localPos());
  if (point == m_hovered) return;
  m_hovered = point;
  setCursor(point >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void ErrorPlot::leaveEvent(QEvent*) {
  m_hovered = -1;
  update();
}

void ErrorPlot::keyPressEvent(QKeyEvent* event) {
  const std::vector<int> order = inOrder();
  const auto last = static_cast<std::ptrdiff_t>(order.size()) - 1;
  const auto found = std::ranges::find(order, m_current);
  std::ptrdiff_t place = found == order.end() ? -1 : found - order.begin();
  switch (event->key()) {
    case Qt::Key_Home:
      place = 0;
      break;
    case Qt::Key_End:
      place = last;
      break;
    case Qt::Key_Left:
      place = place < 0 ? last : place - 1;
      break;
    case Qt::Key_Right:
      ++place;
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  if (last >= 0) emit chosen(order[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, last))]);
}

bool ErrorPlot::event(QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int point = pointAt(help->pos());
  if (point < 0) {
    QToolTip::hideText();
    event->ignore();
  } else {
    QToolTip::showText(help->globalPos(), tipText(m_content.points[static_cast<std::size_t>(point)].words), this);
  }
  return true;
}

double ErrorPlot::upwards(double error) const {
  if (!std::isfinite(error)) return m_upwards.most;
  return error > 0 ? std::log10(error) : m_upwards.least;
}

void ErrorPlot::rescale() {
  std::vector<double> decades, costs;
  for (const PlotPoint& point : m_content.points) {
    costs.push_back(point.across);
    if (std::isfinite(point.error) && point.error > 0) decades.push_back(std::log10(point.error));
  }
  if (m_content.allowed && *m_content.allowed > 0) decades.push_back(std::log10(*m_content.allowed));
  if (decades.empty()) decades = {-3, -1};
  if (costs.empty()) costs = {0, 1};
  const auto [lowest, highest] = std::ranges::minmax(decades);
  const auto [least, most] = std::ranges::minmax(costs);
  m_upwards = {lowest - kBeyond, highest + kBeyond};
  // If there is a single cost, the axis extends equally to both sides of it.
  const double around = m_content.inTime && least > 0 ? least / 2 : 0.5;
  m_across = most > least ? Scale{least, most} : Scale{least - around, most + around};
  // A spread extends the axis by at most its length for the points themselves, because a single slow run would
  // otherwise press them together.
  const double reach = std::max(most - least, around);
  for (const PlotPoint& point : m_content.points) {
    if (!point.spread) continue;
    m_across.least = std::min(m_across.least, std::max(point.spread->first, least - reach));
    m_across.most = std::max(m_across.most, std::min(point.spread->second, most + reach));
  }
}

QRectF ErrorPlot::field() const {
  return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom);
}

QPointF ErrorPlot::placeOf(const PlotPoint& point) const {
  const QRectF inside = field().adjusted(kPointRadius, 0, -kPointRadius, 0);
  return {inside.left() + m_across.shareOf(point.across) * inside.width(),
          inside.bottom() - m_upwards.shareOf(upwards(point.error)) * inside.height()};
}

void ErrorPlot::paintAxes(QPainter& painter) const {
  const Theme& theme = m_theme();
  const QRectF inside = field();
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(theme.base);
  painter.drawRect(inside);
  painter.setFont(uiFont(8.5));
  painter.setPen(theme.dimText);
  const int first = static_cast<int>(std::ceil(m_upwards.least)), last = static_cast<int>(std::floor(m_upwards.most));
  const int step = std::max(1, (last - first) / 5);
  for (int decade = first; decade <= last; decade += step) {
    const double y = inside.bottom() - m_upwards.shareOf(decade) * inside.height();
    painter.drawText(QRectF(0, y - 8, kLeft - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(std::pow(10.0, decade), 'g', 1));
  }
  const auto cost = [this](double value) {
    return m_content.inTime ? msText(value)
                            : plural(static_cast<std::int64_t>(std::round(value)), QStringLiteral("pin"));
  };
  const QRectF below(inside.left(), inside.bottom() + 2, inside.width(), 16);
  painter.drawText(below, Qt::AlignLeft, cost(m_across.least));
  painter.drawText(below, Qt::AlignRight, cost(m_across.most));
  painter.drawText(QRectF(0, below.bottom(), width(), 16), Qt::AlignCenter, m_content.title);
}

QString ErrorPlot::allowedWords() const {
  return QStringLiteral("allowed: %1").arg(errorText(*m_content.allowed));
}

double ErrorPlot::allowedHeight() const {
  return field().bottom() - m_upwards.shareOf(std::log10(*m_content.allowed)) * field().height();
}

QRectF ErrorPlot::allowedPlace() const {
  if (!m_content.allowed || *m_content.allowed <= 0) return {};
  constexpr int kPlaces = 12;  // places along the line, first above it and then below
  const QRectF inside = field();
  const QSizeF size(QFontMetricsF(uiFont(8.5)).horizontalAdvance(allowedWords()) + 8, 16);
  const auto isFree = [&](const QRectF& place) {
    const QRectF near = place.adjusted(-2 * kPointRadius, -2 * kPointRadius, 2 * kPointRadius, 2 * kPointRadius);
    return inside.contains(place) && std::ranges::none_of(m_content.points, [&](const PlotPoint& point) {
             return near.contains(placeOf(point));
           });
  };
  const double room = std::max(0.0, inside.width() - size.width());
  const auto at = [&](int place, double top) {
    return QRectF(QPointF(inside.left() + room * place / kPlaces, allowedHeight() + top), size);
  };
  for (const double top : {-size.height() - 1, 1.0})
    for (int place = 0; place <= kPlaces; ++place)
      if (isFree(at(place, top))) return at(place, top);
  return at(0, -size.height() - 1);
}

/// The front is drawn in steps, because between two points nothing better than the left one is known.
void ErrorPlot::paintFront(QPainter& painter) const {
  const std::vector<int> front = frontOf(m_content.points);
  painter.setPen(QPen(m_theme().success, 1.2));
  for (std::size_t i = 1; i < front.size(); ++i) {
    const QPointF from = placeOf(m_content.points[static_cast<std::size_t>(front[i - 1])]);
    const QPointF to = placeOf(m_content.points[static_cast<std::size_t>(front[i])]);
    painter.drawLine(from, QPointF(to.x(), from.y()));
    painter.drawLine(QPointF(to.x(), from.y()), to);
  }
}

void ErrorPlot::paintPoints(QPainter& painter) const {
  const Theme& theme = m_theme();
  const QRectF inside = field();
  if (m_content.allowed && *m_content.allowed > 0) {
    const double y = allowedHeight();
    painter.setPen(QPen(theme.warning, 1, Qt::DashLine));
    painter.drawLine(QPointF(inside.left(), y), QPointF(inside.right(), y));
    painter.drawText(allowedPlace(), Qt::AlignCenter, allowedWords());
  }
  paintFront(painter);
  painter.setPen(QPen(theme.dimText, 1));
  for (const PlotPoint& point : m_content.points) {
    if (!point.spread) continue;
    const auto at = [&](double across) {
      return placeOf({.across = std::clamp(across, m_across.least, m_across.most), .error = point.error});
    };
    const QPointF from = at(point.spread->first), to = at(point.spread->second);
    painter.drawLine(from, to);
    // An arrow marks a spread that continues beyond the axis.
    if (point.spread->second > m_across.most)
      painter.drawPolyline(QPolygonF({to + QPointF(-4, -3), to, to + QPointF(-4, 3)}));
    if (point.spread->first < m_across.least)
      painter.drawPolyline(QPolygonF({from + QPointF(4, -3), from, from + QPointF(4, 3)}));
  }
  painter.setPen(QPen(theme.base, 1));
  for (const PlotPoint& point : m_content.points) {
    painter.setBrush(std::isfinite(point.error) ? theme.chart : theme.error);
    painter.drawEllipse(placeOf(point), kPointRadius, kPointRadius);
  }
  painter.setBrush(Qt::NoBrush);
  if (m_content.ringed) {
    painter.setPen(QPen(theme.success, 2));
    painter.drawEllipse(placeOf(*m_content.ringed), 2 * kPointRadius, 2 * kPointRadius);
  }
  paintMark(painter, m_hovered, theme.dimText, 2 * kPointRadius);
  paintMark(painter, m_current, theme.text, 3 * kPointRadius);
}

void ErrorPlot::paintMark(QPainter& painter, int point, const QColor& color, double radius) const {
  if (point < 0) return;
  painter.setPen(QPen(color, 1.5));
  painter.drawEllipse(placeOf(m_content.points[static_cast<std::size_t>(point)]), radius, radius);
}

void ErrorPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (hasFocus()) {
    painter.setPen(QPen(m_theme().accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
  if (m_content.points.empty()) {
    painter.setPen(m_theme().dimText);
    painter.setFont(uiFont(9.5));
    painter.drawText(rect().adjusted(24, 0, -24, 0), Qt::AlignCenter | Qt::TextWordWrap, m_content.hint);
    return;
  }
  paintAxes(painter);
  paintPoints(painter);
}

}  // namespace fusescope
