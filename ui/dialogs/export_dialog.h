#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Writes the precision configuration in one of the formats; the text, or why it cannot be written, is shown first.
class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ExportDialog(const DockContext& context, QWidget* parent = nullptr);
  /// By the exporter's name.
  void setFormat(const QString& format) { m_format->setCurrentIndex(m_format->findData(format)); }
  QString preview() const { return m_preview->toPlainText(); }
  /// What stands in place of the preview where there is none: why.
  QString refusal() const { return m_preview->placeholderText(); }
  QPushButton& saveButton() { return *m_save; }

 private:
  void refresh();
  void chooseLog();
  void save();

  DockContext m_context;
  QComboBox* m_format;
  QLineEdit* m_version;
  QLineEdit* m_log;
  QLabel* m_summary;
  QPlainTextEdit* m_preview;
  QPushButton* m_save;
};

}  // namespace fusescope
