#pragma once

#include <QAction>
#include <QList>
#include <QToolBar>

namespace fusescope {

/// A tool bar that omits the words beside its icons and boxes if there is no room for them.
class CompactToolBar : public QToolBar {
  Q_OBJECT

 public:
  explicit CompactToolBar(const QString& title, QWidget* parent = nullptr) : QToolBar(title, parent) {}
  /// Adds a box with a word before it, which is also in its tool tip.
  void addLabelled(const QString& word, QWidget* box);
  /// Adds an action with a word beside its icon.
  void addWorded(QAction* action, const QString& word);
  bool compact() const { return m_compact; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void setCompact(bool compact);
  QList<QAction*> m_labels;  ///< the labels of boxes
  QList<QAction*> m_worded;
  bool m_compact = false;
  int m_wideWidth = 0;  ///< the width that is needed with all words
};

}  // namespace fusescope
