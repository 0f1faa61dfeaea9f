#include "ui/widgets/menu_title.h"

#include <QLabel>
#include <QWidgetAction>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kWidest = 320;
const QString kName = QStringLiteral("menu.title");

}  // namespace

void addMenuTitle(QMenu& menu, const QString& text) {
  auto* label = new QLabel;
  label->setObjectName(kName);
  // The text is drawn legibly, although the entry is disabled so that the keyboard skips it.
  label->setStyleSheet(QStringLiteral("padding: 6px 22px; font-weight: 600; color: %1;")
                           .arg(menu.palette().color(QPalette::Active, QPalette::Text).name()));
  label->ensurePolished();
  label->setTextFormat(Qt::PlainText);
  label->setText(label->fontMetrics().elidedText(text, Qt::ElideMiddle, kWidest));
  label->setToolTip(tipText(text));
  auto* action = new QWidgetAction(&menu);
  action->setObjectName(kName);
  action->setText(text);
  action->setDefaultWidget(label);
  action->setEnabled(false);
  menu.addAction(action);
  menu.addSeparator();
}

QString menuTitle(const QMenu& menu) {
  const auto* action = menu.findChild<QWidgetAction*>(kName, Qt::FindDirectChildrenOnly);
  return action == nullptr ? QString() : action->text();
}

}  // namespace fusescope
