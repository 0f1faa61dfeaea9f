#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTextBrowser>

#include "interchange/exports.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/dialogs/exporter_fields.h"
#include "ui/dialogs/inputs_button.h"
#include "ui/docks/copy_command.h"
#include "ui/jobs/worker_job.h"

namespace fusescope {

/// Writes the plan in one of the export formats. For text formats it first shows the text, or why it cannot be written.
/// A network is made, checked and written by the worker; afterwards the dialog shows what the user must know: added
/// Casts, a raised opset, or the edge because of which nothing was written, with links to it and to what helps. It
/// starts with the format, folder and options of the last export.
class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  ExportDialog(const DockContext& context, WorkerClient& worker, QWidget* parent = nullptr);
  /// Sets the format by the exporter's name.
  void setFormat(const QString& format) { m_format->setCurrentIndex(m_format->findData(format)); }
  QString preview() const { return m_preview->toPlainText(); }
  /// Returns why there is no preview, which is shown in its place.
  QString refusal() const { return m_writable ? QString() : m_report->toPlainText(); }
  /// Returns the report about a network that was exported; its links lead to nodes and values.
  QTextBrowser& report() { return *m_report; }
  QComboBox& format() { return *m_format; }
  /// Returns the fields of the formats' own options.
  ExporterFields& fields() { return *m_fields; }
  QCheckBox& check() { return *m_check; }
  QPushButton& saveButton() { return *m_save; }
  QPushButton& cancelButton() { return *m_cancel; }
  bool working() const { return m_job.working(); }

 private:
  const Exporter& exporter() const;
  QLayout* makeForm();
  void beginAsLast();
  void remember(const QString& path) const;
  void refresh();
  void preview(const Result<Exported>& file);
  void renew();
  void save();
  QString fileName() const;
  WorkerRequest request(const QString& path) const;
  CommandWork command() const;
  void saveNetwork(const QString& path);
  void showWritten(const Json& written);
  void showRefused(const Diagnostic& problem);
  void sayWhyNot(const Diagnostic& problem);
  QString withSteps(QString html) const;
  void follow(const QUrl& to);

  DockContext m_context;
  QComboBox* m_format;
  QCheckBox* m_check;
  InputsButton* m_inputs;
  QLabel* m_summary;
  QFormLayout* m_form;
  ExporterFields* m_fields;
  QStackedWidget* m_pages;
  QPlainTextEdit* m_preview;
  QTextBrowser* m_report;
  QPushButton *m_save, *m_cancel;
  WorkerJob m_job;
  bool m_writable = false;  ///< whether the text exists and can be written
};

}  // namespace fusescope
