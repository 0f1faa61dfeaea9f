#include "ui/dialogs/run_settings_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QVBoxLayout>

#include "backends/backend.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/docks/dock_widgets.h"
#include "ui/document/qt_text.h"

namespace fusescope {

RunSettingsDialog::RunSettingsDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_rms(new QLineEdit(numberText(context.runs.settings().tolerance.rms))),
      m_absolute(new QLineEdit(numberText(context.runs.settings().tolerance.absolute))),
      m_relative(new QLineEdit(numberText(context.runs.settings().tolerance.relative))),
      m_backend(new QComboBox),
      m_threads(new QSpinBox),
      m_against(new QComboBox),
      m_problem(new QLabel) {
  setWindowTitle(QStringLiteral("What runs are made and judged with"));
  resize(480, 0);
  auto* form = new QFormLayout;
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
  m_against->addItem(QStringLiteral("float32, on the same backend"));  // as ErrorsAgainst
  m_against->addItem(QStringLiteral("float64, by the reference: slow"));
  m_against->setCurrentIndex(static_cast<int>(context.runs.settings().errorsAgainst));
  m_against->setToolTip(QStringLiteral("Against float64 also what float32 itself does to each layer shows"));
  form->addRow(QStringLiteral("Errors of layers against"), m_against);
  m_problem->setWordWrap(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  m_ok = buttons->button(QDialogButtonBox::Ok);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(m_problem);
  layout->addWidget(buttons);
  for (QLineEdit* field : {m_rms, m_absolute, m_relative})
    connect(field, &QLineEdit::textChanged, this, &RunSettingsDialog::check);
  connect(buttons, &QDialogButtonBox::accepted, this, &RunSettingsDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  check();
}

void RunSettingsDialog::check() {
  QString problem;
  for (const QLineEdit* field : {m_rms, m_absolute, m_relative}) {
    if (!field->text().trimmed().isEmpty() && !numberIn(*field))
      problem = QStringLiteral("“%1” is not a bound: give a number of 0 or more.").arg(field->text());
  }
  const bool bounded = numberIn(*m_rms) || numberIn(*m_absolute) || numberIn(*m_relative);
  m_problem->setText(!problem.isEmpty() ? problem
                     : bounded          ? QString()
                                        : QStringLiteral("Without a bound, outputs must be equal bit for bit."));
  offer(*m_ok, problem);
}

void RunSettingsDialog::accept() {
  RunSettings settings = m_context.runs.settings();
  settings.backend = m_backend->currentData().toString().toStdString();
  settings.threads = m_threads->value();
  settings.errorsAgainst = static_cast<ErrorsAgainst>(m_against->currentIndex());
  settings.tolerance = {.rms = numberIn(*m_rms), .absolute = numberIn(*m_absolute), .relative = numberIn(*m_relative)};
  m_context.runs.setSettings(settings);
  QDialog::accept();
}

}  // namespace fusescope
