#pragma once

#include <QComboBox>

namespace fusescope {

/// A combo box of names, which differ at their ends: what does not fit is left out of the middle. As narrow as it must
/// be.
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
