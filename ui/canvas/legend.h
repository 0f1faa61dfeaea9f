#pragma once

#include <QPainter>
#include <QPushButton>
#include <QStringList>
#include <QWidget>
#include <vector>

#include "ui/canvas/canvas_colors.h"

namespace fusescope {

/// Paints a card as the background of something on the canvas.
void paintCard(QPainter& painter, const QRect& rect, const Theme& theme);

/// Explains the colours that occur in the picture. The user can choose lines by mouse and keyboard; items with other
/// colours are then dimmed on the canvas, whose owner stores what is chosen.
class LegendWidget : public QWidget {
  Q_OBJECT

 public:
  explicit LegendWidget(QWidget* parent);
  /// `said` says whose kernels these are, and may be empty. `only` contains the keys of the chosen lines.
  void show(const ColorMode& mode, const CanvasColors& colors, const QString& said, const QStringList& only);
  QSize sizeHint() const override { return m_size; }
  const std::vector<LegendLine>& lines() const { return m_lines; }
  QRect lineRect(int line) const;  ///< in the coordinates of this widget

 signals:
  void chosen(const QStringList& keys);  ///< all keys that are chosen now

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  int lineAt(const QPoint& point) const;  ///< -1 if there is none
  void choose(int line, bool add);
  void goTo(int line);
  void say();  ///< describes the legend for screen readers
  QString lineWords(const LegendLine& line) const;
  void paintLine(QPainter& painter, int line) const;

  QString m_title;
  std::vector<LegendLine> m_lines;
  QStringList m_notes;  ///< below the lines
  QStringList m_only;
  int m_chip = 14;  ///< the width of the colour patches
  int m_current = 0, m_hovered = -1;
  Theme m_theme;
  QSize m_size;
};

/// A button "only f16 ✕" that says that items are dimmed, and ends this.
class FilterChip : public QPushButton {
  Q_OBJECT

 public:
  explicit FilterChip(QWidget* parent);
  /// An empty `only` hides it. Keys without a line in `lines` are shown as absent here.
  void show(const std::vector<LegendLine>& lines, const QStringList& only);
};

}  // namespace fusescope
