#include "ui/widgets/name_combo_box.h"

#include <QAbstractItemView>
#include <QStylePainter>

#include "ui/document/names_apart.h"
#include "ui/document/qt_text.h"

namespace fusescope {

NameComboBox::NameComboBox(QWidget* parent) : QComboBox(parent) {
  setSizeAdjustPolicy(AdjustToMinimumContentsLengthWithIcon);
  view()->setTextElideMode(Qt::ElideMiddle);
}

QString NameComboBox::shownText() const {
  QStyleOptionComboBox option;
  initStyleOption(&option);
  const QRect room = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
  const int width = room.width() - 4;
  if (fontMetrics().horizontalAdvance(option.currentText) <= width) return option.currentText;
  std::vector<std::string> names;
  for (int i = 0; i < count(); ++i) names.push_back(itemText(i).toStdString());
  const int current = currentIndex();
  const auto twins = twinsOf({names.begin(), names.end()});
  const QString twin = current < 0 ? QString() : qs(twins[static_cast<std::size_t>(current)]);
  return elidedApart(option.currentText, twin, fontMetrics(), width);
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
