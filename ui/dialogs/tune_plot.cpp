#include "ui/dialogs/tune_plot.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr double kLeft = 62, kRight = 14, kTop = 14, kBottom = 40, kDot = 3.5;
/// Decades that what is not finite, and what is exact, is drawn beyond the others.
constexpr double kBeyond = 0.6;

}  // namespace

TunePlot::TunePlot(std::function<const Theme&()> theme, QWidget* parent) : QWidget(parent), m_theme(std::move(theme)) {
  setAccessibleName(QStringLiteral("Error against cost"));
  rescale();
}

void TunePlot::setPoints(std::vector<TunedPoint> points, std::optional<TunedPoint> chosen,
                         std::optional<double> allowed) {
  m_points = std::move(points);
  m_chosen = chosen;
  m_allowed = allowed;
  rescale();
  QStringList said;
  for (const TunedPoint& point : m_points)
    said << QStringLiteral("error %1 with %2").arg(errorText(point.error), plural(point.pins, QStringLiteral("pin")));
  setAccessibleDescription(said.join(QStringLiteral("; ")));
  update();
}

bool TunePlot::inTime() const {
  return std::ranges::all_of(m_points, [](const TunedPoint& point) { return point.ms.has_value(); });
}

double TunePlot::across(const TunedPoint& point) const {
  return inTime() ? point.ms.value_or(0) : static_cast<double>(point.pins);
}

double TunePlot::upwards(double error) const {
  if (!std::isfinite(error)) return m_upwards.most;
  return error > 0 ? std::log10(error) : m_upwards.least;
}

void TunePlot::rescale() {
  std::vector<double> decades, costs;
  for (const TunedPoint& point : m_points) {
    costs.push_back(across(point));
    if (std::isfinite(point.error) && point.error > 0) decades.push_back(std::log10(point.error));
  }
  if (m_allowed && *m_allowed > 0) decades.push_back(std::log10(*m_allowed));
  if (decades.empty()) decades = {-3, -1};
  if (costs.empty()) costs = {0, 1};
  const auto [lowest, highest] = std::ranges::minmax(decades);
  const auto [least, most] = std::ranges::minmax(costs);
  m_upwards = {lowest - kBeyond, highest + kBeyond};
  m_across = most > least ? Scale{least, most} : Scale{least - 0.5, most + 0.5};
}

QRectF TunePlot::field() const {
  return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom);
}

QPointF TunePlot::placeOf(const TunedPoint& point) const {
  const QRectF inside = field().adjusted(kDot, 0, -kDot, 0);
  return {inside.left() + m_across.shareOf(across(point)) * inside.width(),
          inside.bottom() - m_upwards.shareOf(upwards(point.error)) * inside.height()};
}

void TunePlot::paintAxes(QPainter& painter) const {
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
    return inTime() ? msText(value) : plural(static_cast<std::int64_t>(std::round(value)), QStringLiteral("pin"));
  };
  const QRectF below(inside.left(), inside.bottom() + 2, inside.width(), 16);
  painter.drawText(below, Qt::AlignLeft, cost(m_across.least));
  painter.drawText(below, Qt::AlignRight, cost(m_across.most));
  painter.drawText(below.translated(0, 16), Qt::AlignCenter,
                   inTime() ? QStringLiteral("error (max|Δ| of rms) against predicted time")
                            : QStringLiteral("error (max|Δ| of rms) against pins: times are not known"));
}

void TunePlot::paintPoints(QPainter& painter) const {
  const Theme& theme = m_theme();
  const QRectF inside = field();
  if (m_allowed && *m_allowed > 0) {
    const double y = inside.bottom() - m_upwards.shareOf(std::log10(*m_allowed)) * inside.height();
    painter.setPen(QPen(theme.warning, 1, Qt::DashLine));
    painter.drawLine(QPointF(inside.left(), y), QPointF(inside.right(), y));
    painter.drawText(QRectF(inside.left() + 4, y - 17, inside.width(), 16), Qt::AlignLeft,
                     QStringLiteral("allowed: %1").arg(errorText(*m_allowed)));
  }
  painter.setPen(QPen(theme.base, 1));
  for (const TunedPoint& point : m_points) {
    painter.setBrush(std::isfinite(point.error) ? theme.accent : theme.error);
    painter.drawEllipse(placeOf(point), kDot, kDot);
  }
  if (!m_chosen) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.success, 2));
  painter.drawEllipse(placeOf(*m_chosen), 2 * kDot, 2 * kDot);
}

void TunePlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paintAxes(painter);
  paintPoints(painter);
}

}  // namespace fusescope
