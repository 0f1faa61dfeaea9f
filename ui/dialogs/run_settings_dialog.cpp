#include "ui/dialogs/run_settings_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include "backends/backend.h"
#include "session/operations/shared_settings.h"
#include "session/runs/verdict.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

RunSettingsDialog::RunSettingsDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_rms(new QLineEdit(numberText(context.runs.settings().tolerance.rms))),
      m_absolute(new QLineEdit(numberText(context.runs.settings().tolerance.absolute))),
      m_relative(new QLineEdit(numberText(context.runs.settings().tolerance.relative))),
      m_compiler(new QComboBox),
      m_backend(new QComboBox),
      m_threads(new QSpinBox),
      m_against(new QComboBox),
      m_problem(new QLabel) {
  setWindowTitle(QStringLiteral("How runs are made and judged"));
  resize(480, 0);
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Largest |Δ| over rms"), m_rms);
  form->addRow(QStringLiteral("and |Δ| at most"), m_absolute);
  form->addRow(QStringLiteral("plus this share of |expected|"), m_relative);
  m_compiler->setObjectName(QStringLiteral("compiler"));
  m_backend->setObjectName(QStringLiteral("backend"));
  for (const Backend* backend : allBackends()) m_backend->addItem(qs(backend->name()), qs(backend->name()));
  m_backend->setCurrentIndex(m_backend->findData(qs(context.runs.settings().backend)));
  EngineSettings described;
  describe(*m_threads, optionNamed(described.options(), "threads"), QStringLiteral("as many as the machine has"));
  m_threads->setValue(context.runs.settings().threads);
  for (const Compiler* compiler : allCompilers()) m_compiler->addItem(qs(compiler->name()), qs(compiler->name()));
  m_compiler->setCurrentIndex(m_compiler->findData(qs(context.document.options().compiler)));
  offer(*m_compiler, context.document.snapshot() ? QString() : QStringLiteral("Open a model first."),
        QStringLiteral("The compiler of the network; pins and types are requests to it"));
  form->addRow(QStringLiteral("Compiler"), m_compiler);
  form->addRow(QStringLiteral("Backend"), m_backend);
  form->addRow(QStringLiteral("Threads"), m_threads);
  m_against->addItem(QStringLiteral("float32, on the same backend"));  // in the order of ErrorsAgainst
  m_against->addItem(QStringLiteral("float64, by the reference: slow"));
  m_against->setCurrentIndex(static_cast<int>(context.runs.settings().errorsAgainst));
  describe(*m_against, usualOption<ErrorsSettings>("against"));
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
  connect(m_compiler, qOverload<int>(&QComboBox::currentIndexChanged), this, &RunSettingsDialog::check);
  connect(&context.controller.compilers(), &Compilers::changed, this, &RunSettingsDialog::renewCompilers);
  context.controller.compilers().ask();
  renewCompilers();
  connect(buttons, &QDialogButtonBox::accepted, this, &RunSettingsDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  check();
}

const Compiler& RunSettingsDialog::chosen() const {
  const Compiler* compiler = findCompiler(m_compiler->currentData().toString().toStdString());
  return compiler != nullptr ? *compiler : ownCompiler();
}

/// A compiler that cannot compile here is disabled and says why.
void RunSettingsDialog::renewCompilers() {
  const Compilers& compilers = m_context.controller.compilers();
  auto& items = static_cast<QStandardItemModel&>(*m_compiler->model());
  for (int i = 0; i < m_compiler->count(); ++i) {
    const std::string name = m_compiler->itemData(i).toString().toStdString();
    const QString problem = compilers.whyNot(name, Ability::Compile);
    m_compiler->setItemText(i, compilers.title(name));
    items.item(i)->setEnabled(problem.isEmpty());
    m_compiler->setItemData(i, problem, Qt::ToolTipRole);
  }
}

void RunSettingsDialog::check() {
  const QString ofOurs = &chosen() == &ownCompiler()
                             ? QString()
                             : QStringLiteral("%1 runs what it compiles itself: only our own compiler has backends.")
                                   .arg(qs(chosen().name()));
  offer(*m_backend, ofOurs);
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
  setTolerance(settings,
               {.rms = numberIn(*m_rms), .absolute = numberIn(*m_absolute), .relative = numberIn(*m_relative)});
  m_context.runs.setSettings(settings);
  if (m_compiler->isEnabled() && chosen().name() != m_context.document.options().compiler)
    m_context.document.setCompiler(chosen());
  QDialog::accept();
}

}  // namespace fusescope
