#pragma once

#include <QWidget>
#include <functional>
#include <optional>
#include <string>

#include "calibration/ranges.h"
#include "ui/docks/histogram_picture.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// A histogram of numbers, and the range of them that something holds, as codes of an edge do: histogram_picture.h.
class HistogramPlot : public QWidget {
  Q_OBJECT

 public:
  explicit HistogramPlot(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  void setEdge(const QString& value, const EdgeRange& edge) { setNumbers(value, edge, rangeWords(edge)); }
  /// Numbers that are no edge's: `words` say what of them lies in the range.
  void setNumbers(const QString& title, const EdgeRange& numbers, const QString& words);
  void clear(const QString& hint);  ///< shown in its place
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
