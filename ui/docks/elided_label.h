#pragma once

#include <QLabel>

namespace fusescope {

/// A label of one line of plain text, which ends with an ellipsis where there is no room for all of it; its tool tip
/// then tells the whole. It never makes what it is in wider. text() is the whole text.
class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(QWidget* parent = nullptr);
  /// What is drawn.
  QString shownText() const;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRect place() const;
};

}  // namespace fusescope
