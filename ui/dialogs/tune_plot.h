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
  /// In words, for who points at it, and for screen readers.
  void setWords(std::function<QString(const TunedPoint&)> words) { m_words = std::move(words); }
  /// Marks one of points() as the one that is shown; -1: none.
  void setCurrent(int point);
  int current() const { return m_current; }
  /// Where a point is drawn.
  QPointF placeOf(const TunedPoint& point) const;
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
  bool inTime() const;
  double across(const TunedPoint& point) const;
  /// Decades.
  double upwards(double error) const;
  QRectF field() const;
  QString allowedWords() const;
  double allowedHeight() const;
  void rescale();
  void paintAxes(QPainter& painter) const;
  void paintPoints(QPainter& painter) const;
  void paintMark(QPainter& painter, int point, const QColor& color, double radius) const;
  int pointAt(const QPointF& place) const;  ///< the nearest within reach; -1: none
  QString wordsOf(const TunedPoint& point) const;
  void describe();
  /// From left to right, as keys walk.
  std::vector<int> inOrder() const;

  std::function<const Theme&()> m_theme;
  std::vector<TunedPoint> m_points;
  std::optional<TunedPoint> m_chosen;
  std::optional<double> m_allowed;
  std::function<QString(const TunedPoint&)> m_words;
  int m_current = -1, m_hovered = -1;
  Scale m_across, m_upwards;
};

}  // namespace fusescope
