#include "ui/docks/name_combo_box.h"

#include <QAbstractItemView>
#include <QStylePainter>

namespace fusescope {

NameComboBox::NameComboBox(QWidget* parent) : QComboBox(parent) {
  setSizeAdjustPolicy(AdjustToMinimumContentsLengthWithIcon);
  view()->setTextElideMode(Qt::ElideMiddle);
}

QString NameComboBox::shownText() const {
  QStyleOptionComboBox option;
  initStyleOption(&option);
  const QRect room = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
  return fontMetrics().elidedText(option.currentText, Qt::ElideMiddle, room.width() - 4);
}

void NameComboBox::paintEvent(QPaintEvent*) {
  QStylePainter painter(this);
  QStyleOptionComboBox option;
  initStyleOption(&option);
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  option.currentText = shownText();
  painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

}  // namespace fusescope
