#pragma once

#include <QWidget>
#include <functional>
#include <optional>
#include <string>

#include "calibration/ranges.h"
#include "ui/theme/theme.h"
#include "ui/widgets/histogram_picture.h"

namespace fusescope {

/// Shows a histogram of numbers, and a range of them, for example that of an edge's codes; see histogram_picture.h.
class HistogramPlot : public QWidget {
  Q_OBJECT

 public:
  explicit HistogramPlot(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  void setEdge(const QString& value, const EdgeRange& edge) { setNumbers(value, edge, rangeWords(edge)); }
  /// Shows numbers that are not those of an edge; `words` say which of them are in the range.
  void setNumbers(const QString& title, const EdgeRange& numbers, const QString& words);
  void clear(const QString& hint);  ///< shows the hint in place of the plot
  const QString& value() const { return m_value; }
  QSize sizeHint() const override { return {360, 220}; }
  QSize minimumSizeHint() const override { return {240, 130}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::function<const Theme&()> m_theme;
  QString m_value, m_words, m_hint;
  std::optional<EdgeRange> m_edge;
};

}  // namespace fusescope
