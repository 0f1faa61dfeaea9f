#include "ui/dialogs/pattern_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QVBoxLayout>

#include "ir/graph.h"
#include "planning/directives/directive_form.h"
#include "planning/patterns/match_pattern.h"
#include "planning/types/pin_choices.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

PatternDialog::PatternDialog(const DockContext& context, const QString& pattern, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_pattern(new QLineEdit(pattern)),
      m_kind(new QComboBox),
      m_type(new QComboBox),
      m_strictness(new QComboBox),
      m_summary(new QLabel),
      m_matches(new QListWidget) {
  setWindowTitle(QStringLiteral("Pin a pattern"));
  resize(520, 460);
  m_pattern->setPlaceholderText(
      QStringLiteral("a name, part* of names, /regular expression/, op:Conv, module:encoder.layer.3, value:name"));
  for (const DirectiveForm* form : directiveForms())
    if (form->asks != RequestedType::Nothing) m_kind->addItem(qs(form->title), static_cast<int>(kindOf(*form)));
  const auto snapshot = context.document.snapshot();
  for (const DataType type : pinTypes(*snapshot->plan, context.document.ranges() != nullptr))
    m_type->addItem(qs(type), static_cast<int>(type));
  m_strictness->addItem(QStringLiteral("prefer: another type where it is impossible"),
                        static_cast<int>(Strictness::Prefer));
  m_strictness->addItem(QStringLiteral("obey: an error where it cannot be"), static_cast<int>(Strictness::Obey));
  m_summary->setWordWrap(true);
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Pattern"), m_pattern);
  form->addRow(QStringLiteral("Pin the"), m_kind);
  form->addRow(QStringLiteral("to"), m_type);
  form->addRow(QStringLiteral("Strictness"), m_strictness);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_pin = buttons->addButton(QStringLiteral("Pin"), QDialogButtonBox::AcceptRole);
  m_pin->setDefault(true);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(m_summary);
  layout->addWidget(m_matches, 1);
  layout->addWidget(buttons);
  connect(m_pattern, &QLineEdit::textChanged, this, &PatternDialog::findMatches);
  connect(buttons, &QDialogButtonBox::accepted, this, &PatternDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  findMatches();
}

void PatternDialog::findMatches() {
  const auto snapshot = m_context.document.snapshot();
  const bool empty = m_pattern->text().trimmed().isEmpty();
  offer(*m_pin, empty ? QStringLiteral("Write a pattern first.")
                      : QStringLiteral("The nodes that the pattern matches are being looked up."));
  if (empty) {
    m_matches->clear();
    m_summary->setText(QStringLiteral("What the pattern matches now is listed here."));
    return;
  }
  const auto work = [snapshot, pattern = m_pattern->text().trimmed().toStdString()](const StopToken& stop) {
    return PatternMatcher(*snapshot->plan->model).match(pattern, stop);
  };
  m_context.jobs.run(QStringLiteral("pattern"), this, work, [this, snapshot](const Result<PatternMatch>& found) {
    m_matches->clear();
    offer(*m_pin, found.ok() ? QString() : problemInWords(found.error()));
    if (!found.ok()) {
      m_summary->setText(problemInWords(found.error()));
      return;
    }
    QStringList names;
    for (const NodeId node : found.value().nodes)
      names << QStringLiteral("%1   %2").arg(qs(snapshot->graph().node(node).name),
                                             qs(snapshot->graph().node(node).op));
    for (const BodyNode& inside : found.value().inBodies)
      names << QStringLiteral("%1   %2").arg(
          qs(inside.place.text()), inside.node == nullptr ? QStringLiteral("(removed)") : qs(inside.node->op));
    for (const OriginId origin : found.value().removed) {
      const Origin& removed = snapshot->plan->model->origins[origin.index];
      names << QStringLiteral("%1   %2 (removed)").arg(qs(removed.name), qs(removed.op));
    }
    m_matches->addItems(names);
    m_summary->setText(QStringLiteral("Matches %1 now:").arg(plural(names.size(), QStringLiteral("node"))));
  });
}

void PatternDialog::accept() {
  Directive directive;
  directive.kind = static_cast<DirectiveKind>(m_kind->currentData().toInt());
  directive.pattern = m_pattern->text().trimmed().toStdString();
  directive.type = static_cast<DataType>(m_type->currentData().toInt());
  directive.strictness = static_cast<Strictness>(m_strictness->currentData().toInt());
  m_context.document.editDirectives(QStringLiteral("Pin %1 to %2").arg(qs(directive.pattern), qs(directive.type)),
                                    withDirective(m_context.document.directives(), directive));
  QDialog::accept();
}

}  // namespace fusescope
