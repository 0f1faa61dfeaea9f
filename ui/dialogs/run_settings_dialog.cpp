#include "ui/dialogs/run_settings_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "backends/backend.h"
#include "session/samples.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

QString numberText(const std::optional<double>& number) {
  return number ? QString::number(*number, 'g', 6) : QString();
}

/// Nothing where the field is empty or holds no number.
std::optional<double> numberOf(const QLineEdit& field) {
  bool number = false;
  const double value = field.text().trimmed().toDouble(&number);
  return number && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

RunSettingsDialog::RunSettingsDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_file(new QLineEdit(qs(context.runs.settings().inputs))),
      m_rms(new QLineEdit(numberText(context.runs.settings().tolerance.rms))),
      m_absolute(new QLineEdit(numberText(context.runs.settings().tolerance.absolute))),
      m_relative(new QLineEdit(numberText(context.runs.settings().tolerance.relative))),
      m_backend(new QComboBox),
      m_threads(new QSpinBox),
      m_problem(new QLabel) {
  setWindowTitle(QStringLiteral("What runs are made and judged with"));
  resize(560, 0);
  m_file->setPlaceholderText(QStringLiteral("random inputs"));
  m_file->setClearButtonEnabled(true);
  auto* chooseFile = new QPushButton(QStringLiteral("File…"));
  auto* chooseFolder = new QPushButton(QStringLiteral("Folder…"));
  for (QPushButton* button : {chooseFile, chooseFolder}) button->setAutoDefault(false);  // Return is OK
  auto* row = new QHBoxLayout;
  row->addWidget(m_file, 1);
  row->addWidget(chooseFile);
  row->addWidget(chooseFolder);
  auto* note = new QLabel(
      QStringLiteral("A .npz with an array for each input, a .npy, or ONNX test data (input_0.pb, …). Without one, "
                     "inputs are random, and a verdict says so."));
  note->setWordWrap(true);
  note->setForegroundRole(QPalette::PlaceholderText);
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Inputs"), row);
  form->addRow(QString(), note);
  form->addRow(QStringLiteral("Largest |Δ| over rms"), m_rms);
  form->addRow(QStringLiteral("and |Δ| at most"), m_absolute);
  form->addRow(QStringLiteral("plus this share of |expected|"), m_relative);
  for (const Backend* backend : allBackends()) m_backend->addItem(qs(backend->name()), qs(backend->name()));
  m_backend->setCurrentIndex(m_backend->findData(qs(context.runs.settings().backend)));
  m_threads->setRange(0, 256);
  m_threads->setSpecialValueText(QStringLiteral("as many as the machine has"));
  m_threads->setValue(context.runs.settings().threads);
  form->addRow(QStringLiteral("Backend"), m_backend);
  form->addRow(QStringLiteral("Threads"), m_threads);
  m_problem->setWordWrap(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  m_ok = buttons->button(QDialogButtonBox::Ok);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(m_problem);
  layout->addWidget(buttons);
  connect(chooseFile, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(this, QStringLiteral("Inputs"), m_file->text(),
                                                      QStringLiteral("Inputs (*.npz *.npy *.pb);;All files (*)"));
    if (!file.isEmpty()) m_file->setText(file);
  });
  connect(chooseFolder, &QPushButton::clicked, this, [this] {
    const QString folder = QFileDialog::getExistingDirectory(this, QStringLiteral("Inputs"), m_file->text());
    if (!folder.isEmpty()) m_file->setText(folder);
  });
  for (QLineEdit* field : {m_file, m_rms, m_absolute, m_relative})
    connect(field, &QLineEdit::textChanged, this, &RunSettingsDialog::check);
  connect(buttons, &QDialogButtonBox::accepted, this, &RunSettingsDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  check();
}

void RunSettingsDialog::check() {
  QString problem;
  for (const QLineEdit* field : {m_rms, m_absolute, m_relative}) {
    if (!field->text().trimmed().isEmpty() && !numberOf(*field))
      problem = QStringLiteral("“%1” is not a bound: give a number of 0 or more.").arg(field->text());
  }
  if (problem.isEmpty() && !numberOf(*m_rms) && !numberOf(*m_absolute) && !numberOf(*m_relative))
    problem = QStringLiteral("Without a bound, outputs must be equal bit for bit.");
  m_problem->setText(problem);
  m_ok->setEnabled(!problem.startsWith(QChar(0x201C)));
}

void RunSettingsDialog::accept() {
  RunSettings settings = m_context.runs.settings();
  const auto snapshot = m_context.document.snapshot();
  settings.inputs = m_file->text().trimmed().toStdString();
  settings.backend = m_backend->currentData().toString().toStdString();
  settings.threads = m_threads->value();
  settings.tolerance = {.rms = numberOf(*m_rms), .absolute = numberOf(*m_absolute), .relative = numberOf(*m_relative)};
  if (settings.inputs.empty() || !snapshot) return take(settings);
  m_ok->setEnabled(false);
  m_problem->setText(QStringLiteral("Reading the inputs …"));
  const auto work = [plan = snapshot->plan,
                     source = SampleSource{{settings.inputs}, settings.batchAxis}](const StopToken&) -> Status {
    TRY(loadSamples(*plan, source));
    return Done{};
  };
  m_context.jobs.run(QStringLiteral("read inputs"), this, work, [this, settings](const Status& read) {
    m_ok->setEnabled(true);
    if (read.ok()) return take(settings);
    m_problem->setText(QStringLiteral("✗ ") + qs(read.error().text()));
  });
}

void RunSettingsDialog::take(const RunSettings& settings) {
  m_context.runs.setSettings(settings);
  QDialog::accept();
}

}  // namespace fusescope
