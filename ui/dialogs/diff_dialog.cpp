#include "ui/dialogs/diff_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "session/open_artifact.h"
#include "session/session_file.h"
#include "ui/document/file_diff.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

DiffDialog::DiffDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_file(new QLineEdit(context.fileDiff.path())),
      m_usedOptions(new QComboBox),
      m_said(new QLabel) {
  setWindowTitle(QStringLiteral("Compare the plan with a file"));
  resize(560, 0);
  m_file->setPlaceholderText(QStringLiteral("a plan (.json), an engine (.fse), a network (.onnx, .pt2) or a session"));
  m_file->setClearButtonEnabled(true);
  m_file->setAccessibleName(QStringLiteral("File"));
  m_usedOptions->addItem(QStringLiteral("with the target, types and directives of the plan on screen"),
                         static_cast<int>(FileDiff::UsedOptions::OfScreen));
  m_usedOptions->addItem(QStringLiteral("in float32, without directives"),
                         static_cast<int>(FileDiff::UsedOptions::None));
  m_usedOptions->setAccessibleName(QStringLiteral("How a network is planned"));
  m_said->setWordWrap(true);
  auto* browse = new QPushButton(QStringLiteral("Browse…"));
  browse->setAutoDefault(false);  // Return presses OK
  auto* row = new QHBoxLayout;
  row->addWidget(m_file, 1);
  row->addWidget(browse);
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("A: file"), row);
  form->addRow(QStringLiteral("A network is planned"), m_usedOptions);
  form->addRow(QStringLiteral("B"), new QLabel(QStringLiteral("the plan on screen, also when it is edited")));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  m_ok = buttons->button(QDialogButtonBox::Ok);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(m_said);
  layout->addWidget(buttons);
  connect(browse, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getOpenFileName(
        this, QStringLiteral("Compare with"), m_file->text(),
        QStringLiteral("Plans, engines, networks, sessions (*.json *.fse *.onnx *.pt2 *.fsession);;All files (*)"));
    if (!path.isEmpty()) m_file->setText(path);
  });
  connect(m_file, &QLineEdit::textChanged, this, &DiffDialog::check);
  connect(buttons, &QDialogButtonBox::accepted, this, &DiffDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  check();
}

/// The kind of the file determines whether the choice of options applies.
void DiffDialog::check() {
  const QString path = m_file->text().trimmed();
  const bool file = QFileInfo(path).isFile();
  const bool session = file && isSessionFile(path.toStdString());
  const auto kind = file && !session ? artifactKind(path.toStdString()) : Result<ArtifactKind>(ArtifactKind::Model);
  const QString problem = path.isEmpty() ? QStringLiteral("Choose a file first.")
                          : !file        ? QStringLiteral("There is no such file.")
                          : !kind.ok()   ? problemInWords(kind.error())
                                         : QString();
  const bool network = problem.isEmpty() && !session && kind.value() == ArtifactKind::Model;
  const QString own = QStringLiteral("It contains its own target, types and directives.");
  offer(*m_ok, problem);
  offer(*m_usedOptions, !problem.isEmpty() ? problem : network ? QString() : own);
  m_said->setText(path.isEmpty() || network ? QString() : problem.isEmpty() ? own : QStringLiteral("✗ ") + problem);
}

void DiffDialog::accept() {
  if (!m_ok->isEnabled()) return;
  m_context.fileDiff.compare(m_file->text().trimmed(),
                             static_cast<FileDiff::UsedOptions>(m_usedOptions->currentData().toInt()));
  QDialog::accept();
}

}  // namespace fusescope
