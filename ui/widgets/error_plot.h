#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ui/theme/theme.h"

namespace fusescope {

/// Something with an error and a cost: a run, or a set of pins.
struct PlotPoint {
  double across = 0;  ///< the cost: milliseconds, or a number of pins
  double error = 0;   ///< max|Δ| over rms of the worst output; infinite if something became NaN or infinite
  QString words{};    ///< the tool tip and the text for screen readers
  std::optional<std::pair<double, double>> spread{};  ///< the smallest and largest cost
  bool operator==(const PlotPoint&) const = default;
};

/// The contents of an ErrorPlot.
struct ErrorPlotContent {
  std::vector<PlotPoint> points;
  std::optional<PlotPoint> ringed{};  ///< gets a ring around it
  std::optional<double> allowed{};    ///< the allowed error
  bool inTime = true;                 ///< true: costs are milliseconds; false: numbers of pins
  QString title{};                    ///< title of the axes: "error (max|Δ| of rms) against predicted time"
  QString none{};                     ///< the text for screen readers if there is no point
  QString hint{};                     ///< the text in the picture if there is no point
};

/// Returns the indices of the points for which no other point is better in both cost and error, in order of increasing
/// cost; of equal points only the first. Points without a finite error are excluded. It is a pure function.
std::vector<int> frontOf(const std::vector<PlotPoint>& points);

/// Shows error against cost. The error axis is logarithmic; infinite errors are at the top, exact results at the
/// bottom. A line connects the points of the front. One point is the current one, which the user chooses by clicks and
/// keys.
class ErrorPlot : public QWidget {
  Q_OBJECT

 public:
  explicit ErrorPlot(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  void setContent(ErrorPlotContent content);
  const std::vector<PlotPoint>& points() const { return m_content.points; }
  /// Marks one of points() as the displayed one; -1: none.
  void setCurrent(int point);
  int current() const { return m_current; }
  /// Returns where a point is drawn.
  QPointF placeOf(const PlotPoint& point) const;
  /// Returns the place of the text about the allowed error, beside its line and away from points if possible. Empty:
  /// there is no allowed error.
  QRectF allowedPlace() const;
  QSize sizeHint() const override { return {340, 230}; }
  QSize minimumSizeHint() const override { return {220, 150}; }

 signals:
  void chosen(int point);  ///< by a click, arrow keys, Home or End

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Scale {
    double least = 0, most = 1;
    double shareOf(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
  };
  /// Returns the position of an error on the vertical axis, in decades.
  double upwards(double error) const;
  QRectF field() const;
  QString allowedWords() const;
  double allowedHeight() const;
  void rescale();
  void paintAxes(QPainter& painter) const;
  void paintFront(QPainter& painter) const;
  void paintPoints(QPainter& painter) const;
  void paintMark(QPainter& painter, int point, const QColor& color, double radius) const;
  int pointAt(const QPointF& place) const;  ///< the nearest point within reach; -1 if there is none
  void describe();
  /// Returns the points from left to right, in which order arrow keys visit them.
  std::vector<int> inOrder() const;

  std::function<const Theme&()> m_theme;
  ErrorPlotContent m_content;
  int m_current = -1, m_hovered = -1;
  Scale m_across, m_upwards;
};

}  // namespace fusescope
