#pragma once

#include <QComboBox>

namespace fusescope {

/// A combo box for names. If a name does not fit, the part that distinguishes it from the others stays visible. It can
/// become very narrow.
class NameComboBox : public QComboBox {
  Q_OBJECT

 public:
  explicit NameComboBox(QWidget* parent = nullptr);
  /// Returns the visible text of the chosen item at the present width.
  QString shownText() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace fusescope
