#include "ui/dialogs/truncation_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/document/directive_edits.h"

namespace fusescope {
namespace {

QComboBox* modesBox(TruncateMode chosen) {
  auto* box = new QComboBox;
  for (const char* text : {"nothing", "int64 to int32", "float64 to float32", "both"})  // as TruncateMode
    box->addItem(QString::fromUtf8(text));
  box->setCurrentIndex(static_cast<int>(chosen));
  return box;
}

TruncateMode modeIn(const QComboBox& box) {
  return static_cast<TruncateMode>(box.currentIndex());
}

}  // namespace

TruncationDialog::TruncationDialog(const DockContext& context, QWidget* parent) : QDialog(parent), m_context(context) {
  const TruncateModes modes = truncationOf(context.document.directives());
  m_inputs = modesBox(modes.inputs);
  m_constants = modesBox(modes.constants);
  setWindowTitle(QStringLiteral("Truncate wide types"));
  auto* about =
      new QLabel(QStringLiteral("Types that the target lacks can be narrowed here. What is not narrowed runs in "
                                "fallback, and a constant that does not fit the narrower type is never narrowed."));
  about->setWordWrap(true);
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Inputs, and values calculated from them"), m_inputs);
  form->addRow(QStringLiteral("Constants"), m_constants);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(about);
  layout->addLayout(form);
  layout->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &TruncationDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void TruncationDialog::accept() {
  const TruncateModes modes{modeIn(*m_inputs), modeIn(*m_constants)};
  const Directives& before = m_context.document.directives();
  if (modes != truncationOf(before))
    m_context.document.editDirectives(
        QStringLiteral("Truncate: inputs %1, constants %2").arg(m_inputs->currentText(), m_constants->currentText()),
        withTruncation(before, modes));
  QDialog::accept();
}

}  // namespace fusescope
