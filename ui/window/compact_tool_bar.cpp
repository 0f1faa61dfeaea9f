#include "ui/window/compact_tool_bar.h"

#include <QLabel>
#include <QResizeEvent>
#include <QToolButton>

namespace fusescope {

void CompactToolBar::addLabelled(const QString& word, QWidget* box) {
  auto* label = new QLabel(word);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setContentsMargins(6, 0, 2, 0);
  label->setBuddy(box);
  box->setAccessibleName(word);
  box->setToolTip(box->toolTip().isEmpty() ? word : QStringLiteral("%1: %2").arg(word, box->toolTip()));
  m_labels << addWidget(label);
  addWidget(box);
}

void CompactToolBar::addWorded(QAction* action, const QString& word) {
  addAction(action);
  action->setIconText(word);
  m_worded << action;
  setCompact(m_compact);
}

void CompactToolBar::resizeEvent(QResizeEvent* event) {
  QToolBar::resizeEvent(event);
  if (!m_compact) m_wideWidth = sizeHint().width();
  if (m_compact != (event->size().width() < m_wideWidth)) setCompact(!m_compact);
}

void CompactToolBar::setCompact(bool compact) {
  m_compact = compact;
  for (QAction* label : m_labels) label->setVisible(!compact);
  for (QAction* action : m_worded) {
    if (auto* button = qobject_cast<QToolButton*>(widgetForAction(action)))
      button->setToolButtonStyle(compact ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
  }
}

}  // namespace fusescope
