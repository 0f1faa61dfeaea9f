#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ui/theme/theme.h"

namespace fusescope {

/// What has an error and a cost: a run, or a set of pins.
struct PlotPoint {
  double across = 0;  ///< its cost: milliseconds, or a number of pins
  double error = 0;   ///< max|Δ| over rms of the worst output; infinite where something became no number
  QString words{};    ///< for who points at it, and for screen readers
  std::optional<std::pair<double, double>> spread{};  ///< of the cost: its least and its most
  bool operator==(const PlotPoint&) const = default;
};

/// What an ErrorPlot shows.
struct ErrorPlotContent {
  std::vector<PlotPoint> points;
  std::optional<PlotPoint> ringed{};  ///< has a ring around it
  std::optional<double> allowed{};    ///< the error that is allowed
  bool inTime = true;                 ///< costs are milliseconds; else numbers of pins
  QString title{};                    ///< of the axes: "error (max|Δ| of rms) against predicted time"
  QString none{};                     ///< what is said where there is no point, for screen readers
  QString hint{};                     ///< likewise, in the picture
};

/// Places of the points to which no other one is better in both cost and error, in the order of rising cost. Of equal
/// ones the first. What has no finite error is none. Pure.
std::vector<int> frontOf(const std::vector<PlotPoint>& points);

/// Error against cost. The scale of errors is logarithmic; what is not finite stands at the top, what is exact at the
/// bottom. A line joins the points of the front. One point is the current one, which clicks and keys choose.
class ErrorPlot : public QWidget {
  Q_OBJECT

 public:
  explicit ErrorPlot(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  void setContent(ErrorPlotContent content);
  const std::vector<PlotPoint>& points() const { return m_content.points; }
  /// Marks one of points() as the one that is shown; -1: none.
  void setCurrent(int point);
  int current() const { return m_current; }
  /// Where a point is drawn.
  QPointF placeOf(const PlotPoint& point) const;
  /// Where it says what is allowed, beside the line: where no point is, if there is such a place. Empty: no error is.
  QRectF allowedPlace() const;
  QSize sizeHint() const override { return {340, 230}; }
  QSize minimumSizeHint() const override { return {220, 150}; }

 signals:
  void chosen(int point);  ///< by a click, or by arrow keys, Home and End

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
  /// Decades.
  double upwards(double error) const;
  QRectF field() const;
  QString allowedWords() const;
  double allowedHeight() const;
  void rescale();
  void paintAxes(QPainter& painter) const;
  void paintFront(QPainter& painter) const;
  void paintPoints(QPainter& painter) const;
  void paintMark(QPainter& painter, int point, const QColor& color, double radius) const;
  int pointAt(const QPointF& place) const;  ///< the nearest within reach; -1: none
  void describe();
  /// From left to right, as keys walk.
  std::vector<int> inOrder() const;

  std::function<const Theme&()> m_theme;
  ErrorPlotContent m_content;
  int m_current = -1, m_hovered = -1;
  Scale m_across, m_upwards;
};

}  // namespace fusescope
