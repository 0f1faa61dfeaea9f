#include "ui/window/message_bar.h"

#include <QHBoxLayout>

namespace fusescope {

MessageBar::MessageBar(QWidget* parent) : QWidget(parent), m_rows(new QVBoxLayout(this)) {
  m_rows->setContentsMargins(0, 0, 0, 0);
  m_rows->setSpacing(1);
  // The bar is at least as high as its texts are when they are wrapped into its width.
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
}

QWidget* MessageBar::find(const QString& key) const {
  for (int i = 0; i < m_rows->count(); ++i)
    if (QWidget* row = m_rows->itemAt(i)->widget(); row->objectName() == key) return row;
  return nullptr;
}

void MessageBar::show(const QString& key, const QString& text, const QList<Action>& actions) {
  close(key);
  auto* row = new QWidget;
  row->setObjectName(key);
  row->setAutoFillBackground(true);
  row->setBackgroundRole(QPalette::Button);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(12, 6, 8, 6);
  auto* label = new QLabel(text);
  label->setObjectName(QStringLiteral("text"));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layout->addWidget(label, 1);
  const auto addButton = [&](const QString& title, const std::function<void()>& act) {
    auto* button = new QPushButton(title);
    layout->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, key, act] {
      close(key);
      if (act) act();
    });
  };
  for (const Action& action : actions) addButton(action.first, action.second);
  addButton(QStringLiteral("Dismiss"), {});
  m_rows->addWidget(row);
}

void MessageBar::close(const QString& key) {
  QWidget* row = find(key);
  if (row == nullptr) return;
  m_rows->removeWidget(row);
  row->hide();
  row->deleteLater();
}

QString MessageBar::textOf(const QString& key) const {
  const QWidget* row = find(key);
  return row == nullptr ? QString() : row->findChild<QLabel*>(QStringLiteral("text"))->text();
}

QPushButton* MessageBar::button(const QString& key, const QString& action) const {
  const QWidget* row = find(key);
  if (row == nullptr) return nullptr;
  for (QPushButton* button : row->findChildren<QPushButton*>())
    if (button->text() == action) return button;
  return nullptr;
}

}  // namespace fusescope
