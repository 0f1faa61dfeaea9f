#pragma once

#include <QLabel>

namespace fusescope {

/// Returns the first of `texts`, which begin with the longest, that is at most `width` pixels wide. If none is, returns
/// the last one, elided in the middle.
QString fitting(const QStringList& texts, const QFontMetrics& font, int width);

/// A label with one line of plain text, which ends with an ellipsis if it does not fit; its tool tip then shows the
/// whole text. It never widens its container. text() returns the whole text.
class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(QWidget* parent = nullptr);
  /// Returns the text that is drawn.
  QString shownText() const;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRect place() const;
};

}  // namespace fusescope
