#include "ui/dialogs/export_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QVBoxLayout>

#include "base/files.h"
#include "interchange/exports.h"
#include "ui/dialogs/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

ExportDialog::ExportDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_format(new QComboBox),
      m_version(new QLineEdit(QStringLiteral("10.3"))),
      m_log(new QLineEdit),
      m_summary(new QLabel),
      m_preview(new QPlainTextEdit) {
  setWindowTitle(QStringLiteral("Export the precision configuration"));
  resize(680, 520);
  for (const Exporter& exporter : exporters())
    if (exporter.isText) m_format->addItem(qs(exporter.title), qs(exporter.name));
  m_log->setPlaceholderText(QStringLiteral("log of a verbose build by trtexec, for the exact names (optional)"));
  m_summary->setWordWrap(true);
  m_preview->setReadOnly(true);
  m_preview->setFont(monoFont());
  m_preview->setLineWrapMode(QPlainTextEdit::NoWrap);
  auto* browse = new QPushButton(QStringLiteral("Browse…"));
  browse->setAutoDefault(false);  // Return saves
  auto* logRow = new QHBoxLayout;
  logRow->addWidget(m_log, 1);
  logRow->addWidget(browse);
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Format"), m_format);
  form->addRow(QStringLiteral("TensorRT version"), m_version);
  form->addRow(QStringLiteral("Layer names"), logRow);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_save = buttons->addButton(QStringLiteral("Save as…"), QDialogButtonBox::ActionRole);
  m_save->setDefault(true);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(m_summary);
  layout->addWidget(m_preview, 1);
  layout->addWidget(buttons);
  connect(m_format, qOverload<int>(&QComboBox::currentIndexChanged), this, &ExportDialog::refresh);
  connect(m_version, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(m_log, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(browse, &QPushButton::clicked, this, &ExportDialog::chooseLog);
  connect(m_save, &QPushButton::clicked, this, &ExportDialog::save);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  refresh();
}

void ExportDialog::refresh() {
  const Exporter& exporter = *findExporter(m_format->currentData().toString().toStdString());
  const bool trtexec = exporter.name == "trtexec";
  m_version->setEnabled(trtexec);
  m_log->setEnabled(trtexec);
  const auto snapshot = m_context.document.snapshot();
  const auto work = [plan = snapshot->plan, write = exporter.write, version = m_version->text().toStdString(),
                     log =
                         trtexec ? m_log->text().toStdString() : std::string()](const StopToken&) -> Result<Exported> {
    ExportOptions options;
    options.trtVersion = version;
    if (!log.empty()) options.layerNames = TRY(readTextFile(log));
    return write(*plan, options);
  };
  QString summary = qs(exporter.summary);
  summary[0] = summary[0].toUpper();
  m_context.jobs.run(QStringLiteral("export"), this, work, [this, summary](const Result<Exported>& file) {
    m_save->setEnabled(file.ok());
    QString said = file.ok() ? summary : QStringLiteral("✗ This plan cannot be written in that format.");
    if (file.ok())
      for (const ExportNote& note : file.value().notes) said += QStringLiteral("\n⚠ ") + withoutOptions(qs(note.text));
    m_summary->setText(said);
    m_preview->setPlainText(file.ok() ? qs(file.value().text) : QString());
    m_preview->setPlaceholderText(file.ok() ? QString() : problemInWords(file.error()));
  });
}

void ExportDialog::chooseLog() {
  const QString path = QFileDialog::getOpenFileName(this, QStringLiteral("A verbose trtexec log"));
  if (!path.isEmpty()) m_log->setText(path);
}

void ExportDialog::save() {
  const Exporter& exporter = *findExporter(m_format->currentData().toString().toStdString());
  const QString extension = QString(qs(exporter.extension)).remove(QLatin1Char('.'));
  const QString path =
      QFileDialog::getSaveFileName(this, QStringLiteral("Export"), QStringLiteral("precision.") + extension);
  if (path.isEmpty()) return;
  const Status written = writeFileAtomically(path.toStdString(), m_preview->toPlainText().toStdString());
  if (written.ok()) {
    accept();
  } else {
    QMessageBox::warning(this, QStringLiteral("Export"), qs(written.error().text()));
  }
}

}  // namespace fusescope
