#include "ui/dialogs/add_environment_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "session/operations/compilers_operation.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/environment_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

constexpr int kWidthInLetters = 76, kHeightInLines = 30, kSaidLines = 9;

QLabel* words(const QString& text) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  return label;
}

}  // namespace

AddEnvironmentDialog::AddEnvironmentDialog(Environments& environments, QWidget* parent)
    : QDialog(parent),
      m_environments(environments),
      m_name(new QLineEdit),
      m_command(new QLineEdit),
      m_memory(new QDoubleSpinBox),
      m_keepsFiles(new QCheckBox(QStringLiteral("&Keep networks on its machine"))),
      m_agreed(words({})),
      m_start(plainButton(QStringLiteral("&Start it and look"),
                          QStringLiteral("Starts the command exactly as written, and asks which compilers are there"))),
      m_stop(plainButton(QStringLiteral("S&top"), QStringLiteral("Stops the command that was started"))),
      m_said(new QTextBrowser) {
  setWindowTitle(QStringLiteral("Add an environment"));
  const QFontMetrics metrics(font());
  resize(kWidthInLetters * metrics.averageCharWidth(), kHeightInLines * metrics.lineSpacing());
  m_name->setPlaceholderText(QStringLiteral("gpubox"));
  m_command->setPlaceholderText(QStringLiteral("ssh gpubox python3"));
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("&Name"), m_name);
  form->addRow(QStringLiteral("&Command that starts Python"), m_command);
  describeBytes(*m_memory, usualOption<CompilersAddSettings>("memory"), 1);
  describe(*m_keepsFiles, usualOption<CompilersAddSettings>("keep-files"));
  form->addRow(QStringLiteral("&Memory of a process"), m_memory);
  form->addRow(QString(), m_keepsFiles);
  auto* trying = new QHBoxLayout;
  trying->addWidget(m_start);
  trying->addWidget(m_stop);
  trying->addStretch(1);
  m_said->setAccessibleName(QStringLiteral("What was found"));
  m_said->setMinimumHeight(kSaidLines * metrics.lineSpacing());
  m_said->document()->setDocumentMargin(spacing::kMedium);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_add = buttons->addButton(QStringLiteral("&Add"), QDialogButtonBox::AcceptRole);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(words(QStringLiteral(
      "Compilers are in Python environments, on this machine or on another one that a command reaches: "
      "/home/me/venv/bin/python, ssh gpubox python3, docker exec -i trt python3, kubectl exec -i pod -- python3.")));
  layout->addLayout(form);
  layout->addWidget(m_agreed);
  layout->addLayout(trying);
  layout->addWidget(m_said, 1);
  layout->addWidget(buttons);
  connect(m_start, &QPushButton::clicked, this, &AddEnvironmentDialog::start);
  connect(m_stop, &QPushButton::clicked, this, &AddEnvironmentDialog::stop);
  connect(buttons, &QDialogButtonBox::accepted, this, &AddEnvironmentDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_name, &QLineEdit::textChanged, this, &AddEnvironmentDialog::check);
  connect(m_command, &QLineEdit::textChanged, this, [this] {
    // What was found belongs to another command.
    if (m_isTrying) m_environments.cancelNew();
    m_isTrying = false;
    m_found.reset();
    m_outcome.clear();
    check();
  });
  check();
}

/// Closing the dialog does not wait until the attempt ends.
void AddEnvironmentDialog::done(int result) {
  m_environments.cancelNew();
  QDialog::done(result);
}

Environment AddEnvironmentDialog::environment() const {
  return {.name = m_name->text().trimmed().toStdString(),
          .command = m_command->text().trimmed().toStdString(),
          .keepsFiles = m_keepsFiles->isChecked(),
          .memoryBytes = bytesIn(*m_memory)};
}

QString AddEnvironmentDialog::problem() const {
  const Environment now = environment();
  if (now.command.empty()) return QStringLiteral("Type the command that starts Python there.");
  if (now.name.empty()) return QStringLiteral("Give it a name.");
  const KnownEnvironment* known = m_environments.find(now.name);
  if (known != nullptr && !known->isAdded)
    return QStringLiteral("“%1” is the name of an environment that is found automatically: choose another one.")
        .arg(qs(now.name));
  return {};
}

void AddEnvironmentDialog::start() {
  m_isTrying = true;
  m_found.reset();
  m_outcome.clear();
  m_environments.tryNew(environment(), this, [this](const Result<FoundEnvironment>& found) {
    m_isTrying = false;
    if (found.ok())
      m_found = found.value();
    else
      m_outcome =
          found.error().cancelled ? QStringLiteral("Stopped.") : QStringLiteral("✗ %1").arg(problemText(found.error()));
    check();
  });
  check();
}

void AddEnvironmentDialog::stop() {
  m_environments.cancelNew();
  m_isTrying = false;
  m_outcome = QStringLiteral("Stopped.");
  check();
}

void AddEnvironmentDialog::check() {
  const Environment now = environment();
  const QString wrong = problem();
  m_agreed->setText(
      now.command.empty()
          ? QStringLiteral("Nothing is started before you press the button.")
          : QStringLiteral("This will be started on this machine, with your rights: %1").arg(qs(now.command)));
  const QString busy = m_isTrying ? QStringLiteral("It is being tried: wait, or stop it.") : QString();
  offer(*m_start, m_isTrying            ? busy
                  : now.command.empty() ? QStringLiteral("Type the command that starts Python there.")
                                        : QString());
  offer(*m_stop, m_isTrying ? QString() : QStringLiteral("Nothing is being tried."));
  const QString untried =
      m_found ? QString() : QStringLiteral("Start it first: you see what is there before it is added.");
  offer(*m_add, !wrong.isEmpty() ? wrong : m_isTrying ? busy : untried);
  m_start->setDefault(!m_add->isEnabled());
  m_add->setDefault(m_add->isEnabled());
  m_add->setText(m_found && !m_found->problem.empty() ? QStringLiteral("&Add anyway") : QStringLiteral("&Add"));
  if (m_found)
    m_said->setHtml(foundHtml(*m_found));
  else
    m_said->setPlainText(m_isTrying             ? QStringLiteral("Waiting for Python to answer …")
                         : !m_outcome.isEmpty() ? m_outcome
                                                : wrong);
}

void AddEnvironmentDialog::accept() {
  if (!m_add->isEnabled()) return;
  m_environments.add(environment(), m_found);
  QDialog::accept();
}

}  // namespace fusescope
