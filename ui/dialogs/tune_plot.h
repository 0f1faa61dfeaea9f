#pragma once

#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "session/tune_answer.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Error against predicted time, or against the number of pins where not every time is known, of sets of pins: what a
/// search has found so far. The scale of errors is logarithmic; what is not finite stands at the top, what is exact at
/// the bottom.
class TunePlot : public QWidget {
  Q_OBJECT

 public:
  explicit TunePlot(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  void setPoints(std::vector<TunedPoint> points, std::optional<TunedPoint> chosen, std::optional<double> allowed);
  const std::vector<TunedPoint>& points() const { return m_points; }
  /// Where a point is drawn.
  QPointF placeOf(const TunedPoint& point) const;
  QSize sizeHint() const override { return {340, 230}; }
  QSize minimumSizeHint() const override { return {220, 150}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Scale {
    double least = 0, most = 1;
    double shareOf(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
  };
  bool inTime() const;
  double across(const TunedPoint& point) const;
  /// Decades.
  double upwards(double error) const;
  QRectF field() const;
  void rescale();
  void paintAxes(QPainter& painter) const;
  void paintPoints(QPainter& painter) const;

  std::function<const Theme&()> m_theme;
  std::vector<TunedPoint> m_points;
  std::optional<TunedPoint> m_chosen;
  std::optional<double> m_allowed;
  Scale m_across, m_upwards;
};

}  // namespace fusescope
