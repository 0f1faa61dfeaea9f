#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTextBrowser>
#include <QTimer>
#include <QWidget>
#include <array>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Builds into the slots A and B: phases with elapsed time, a live log with links to nodes, cancel.
class BuildDock : public QWidget {
  Q_OBJECT

 public:
  explicit BuildDock(const DockContext& context, QWidget* parent = nullptr);
  QPushButton& buildButton(int index) { return *m_build[static_cast<std::size_t>(index)]; }
  QPushButton& cancelButton() { return *m_cancel; }
  QString logText() const { return m_log->toPlainText(); }
  void refresh();

 private:
  QString slotText(int index) const;
  QString phasesText(const EngineSlot& slot) const;
  void appendLog(const QString& line);
  QString withLinks(const QString& line) const;

  DockContext m_context;
  std::array<QPushButton*, 2> m_build;
  QPushButton* m_both;
  QPushButton* m_cancel;
  QComboBox* m_backend;
  QSpinBox* m_threads;
  QLabel* m_problem;
  std::array<QLabel*, 2> m_slots;
  QTextBrowser* m_log;
  QTimer m_clock;  ///< while the worker works: elapsed time
};

}  // namespace fusescope
