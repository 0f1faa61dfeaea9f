#pragma once

#include <QWidget>
#include <functional>
#include <optional>
#include <string>

#include "calibration/ranges.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// What was seen on one edge, and what of it codes stand for: histogram_picture.h.
class HistogramPlot : public QWidget {
  Q_OBJECT

 public:
  explicit HistogramPlot(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  void setEdge(const QString& value, const EdgeRange& edge);
  void clear(const QString& hint);  ///< shown in its place
  const QString& value() const { return m_value; }
  QSize sizeHint() const override { return {360, 220}; }
  QSize minimumSizeHint() const override { return {240, 130}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::function<const Theme&()> m_theme;
  QString m_value, m_hint;
  std::optional<EdgeRange> m_edge;
};

}  // namespace fusescope
