#pragma once

#include <QImage>
#include <QPoint>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "session/runs/tensor_slice.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Shows a slice of a tensor as an image: blue below 0, orange above, more intense for larger numbers. NaN and
/// infinities, and numbers that become infinite in a narrower type, have colours of their own and a frame. One cell is
/// the current one, which the user chooses by the mouse and the arrow keys.
class SliceView : public QWidget {
  Q_OBJECT

 public:
  explicit SliceView(std::function<const Theme&()> theme, QWidget* parent = nullptr);
  /// `scale` is the absolute value with the full colour. Numbers that become infinite in the type `mark` are marked;
  /// Undefined: none.
  void setSlice(const QString& title, std::shared_ptr<const TensorSlice> slice, double scale, DataType mark);
  void clear(const QString& hint);  ///< shows the hint in its place
  const TensorSlice* slice() const { return m_slice.get(); }
  /// Sets the column and row of the cell; (-1, -1): none.
  void setCurrent(QPoint cell);
  QPoint current() const { return m_current; }
  QString title() const { return m_title; }
  /// Returns how many cells are marked: NaN, infinities, and numbers that would overflow.
  std::size_t marked() const { return m_marked.size(); }
  /// Returns where a cell is drawn.
  QRectF placeOf(QPoint cell) const;
  QColor colorOf(double number) const;
  QSize sizeHint() const override { return {240, 220}; }
  QSize minimumSizeHint() const override { return {60, 90}; }

 signals:
  void pointedAt(QPoint cell);  ///< by the mouse or by keys; (-1, -1): the mouse has left

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  bool overflows(double number) const;
  QRectF field() const;
  QRectF imagePlace() const;
  QPoint cellAt(const QPointF& place) const;
  void paintMarks(QPainter& painter) const;
  void paintScale(QPainter& painter) const;
  void renewImage() const;

  std::function<const Theme&()> m_theme;
  QString m_title, m_hint;
  std::shared_ptr<const TensorSlice> m_slice;
  double m_scale = 1;
  DataType m_mark = DataType::Undefined;
  std::vector<QPoint> m_marked;
  QPoint m_current{-1, -1};
  mutable QImage m_image;
  mutable std::optional<ThemeKind> m_imageTheme;  ///< the theme for which the image was drawn
};

}  // namespace fusescope
