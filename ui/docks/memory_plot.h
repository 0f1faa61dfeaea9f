#pragma once

#include <QWidget>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/shared_optional.h"
#include "engine/program/memory_timeline.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Shows the bytes that are occupied in the arena at each step of a run, in order of execution. The peak is marked. One
/// step is the current one, which the user chooses by a click, arrow keys, Home, End or P (the peak). A tool tip
/// describes the step under the mouse.
class MemoryPlot : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryPlot(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  void setMemory(const SharedOptional<MemoryTimeline>& memory);
  const std::vector<std::int64_t>& usedBytes() const { return m_usedBytes; }
  std::size_t peak() const { return m_peak; }
  int current() const { return m_current; }  ///< a step; -1: none
  void setCurrent(int step);
  /// Marks the steps that run what is selected elsewhere.
  void setMarked(std::set<int> steps);
  const std::set<int>& marked() const { return m_marked; }
  /// Returns the horizontal position of the middle of a step.
  double placeOf(int step) const;
  QSize sizeHint() const override { return {520, 200}; }
  QSize minimumSizeHint() const override { return {200, 110}; }

 signals:
  void chosen(int step);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int count() const { return static_cast<int>(m_usedBytes.size()); }
  QRectF field() const;
  double heightOf(std::int64_t bytes) const;
  int stepAt(double x) const;  ///< -1 if there is none
  QString wordsOf(int step) const;
  void describe();
  void paintBars(QPainter& painter) const;
  void paintLines(QPainter& painter) const;

  std::function<const Theme&()> m_theme;
  SharedOptional<MemoryTimeline> m_memory;
  std::vector<std::int64_t> m_usedBytes;
  std::size_t m_peak = 0;
  std::set<int> m_marked;
  int m_current = -1, m_hovered = -1;
};

}  // namespace fusescope
