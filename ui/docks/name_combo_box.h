#pragma once

#include <QComboBox>

namespace fusescope {

/// A combo box of names: of what does not fit, what tells it from the others stays. As narrow as it must be.
class NameComboBox : public QComboBox {
  Q_OBJECT

 public:
  explicit NameComboBox(QWidget* parent = nullptr);
  /// What it shows of the chosen text at its present width.
  QString shownText() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace fusescope
