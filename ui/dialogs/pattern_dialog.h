#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Pins every node that matches a pattern, and shows the matches while it is typed.
class PatternDialog : public QDialog {
  Q_OBJECT

 public:
  PatternDialog(const DockContext& context, const QString& pattern, QWidget* parent = nullptr);
  int matchCount() const { return m_matches->count(); }
  /// Sets the pattern as if the user typed it.
  void setPattern(const QString& pattern) { m_pattern->setText(pattern); }
  void accept() override;

 private:
  void findMatches();

  DockContext m_context;
  QLineEdit* m_pattern;
  QComboBox* m_kind;
  QComboBox* m_type;
  QComboBox* m_strictness;
  QLabel* m_summary;
  QListWidget* m_matches;
  QPushButton* m_pin;
};

}  // namespace fusescope
