#include "ui/dialogs/truncation_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QVBoxLayout>

#include "diff/truncation_diff.h"
#include "planning/read_back/compiled_engines.h"
#include "ui/document/directive_edits.h"
#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {
namespace {

const QString kBesideTag = QStringLiteral("truncation beside");

QComboBox* modesBox(TruncateMode chosen, const QString& name) {
  auto* box = new QComboBox;
  for (const char* text : {"nothing", "int64 to int32", "float64 to float32", "both"})  // in the order of TruncateMode
    box->addItem(QString::fromUtf8(text));
  box->setCurrentIndex(static_cast<int>(chosen));
  box->setAccessibleName(name);
  return box;
}

TruncateMode modeIn(const QComboBox& box) {
  return static_cast<TruncateMode>(box.currentIndex());
}

/// Returns the read-back plan on screen if its engines have a target of their own, otherwise null.
const ReadBackPlan* madeWithEngines(const DockContext& context) {
  const auto snapshot = context.document.snapshot();
  return snapshot && reportsEngines(*snapshot->cover) ? snapshot->made() : nullptr;
}

QString aboutText(const ReadBackPlan* made) {
  const QString rest = QStringLiteral(
      " What is not narrowed runs in fallback, and a constant that does not fit the narrower type is never narrowed.");
  if (made == nullptr) return QStringLiteral("Types that the target lacks can be narrowed here.") + rest;
  return QStringLiteral("The engines of %1 are for %2. Our own plans for that target narrow here what it lacks.")
             .arg(compilerTitle(made->compiler), qs(made->compiler.options.at(kEnginesFor))) +
         rest;
}

Tone toneOf(const WideSide& side) {
  return side.fate == WideFate::WideInEngine || side.fate == WideFate::Refused ? Tone::Bad : Tone::Plain;
}

TableContent contentOf(const TruncationDiff& diff) {
  TableContent content{{"Value", "Is", "Type", qs(diff.a), qs(diff.b)}, {}, {}};
  for (const WideValue& each : diff.values) {
    const auto cell = [&](const WideSide& side) {
      const QString text = qs(side.text(each.type));
      return Cell{.text = text, .tip = text, .tone = toneOf(side)};
    };
    content.rows.push_back({qs(each.value),
                            {{.text = qs(each.value)},
                             {.text = qs(std::string(each.role))},
                             {.text = qs(toText(each.type))},
                             cell(each.a),
                             cell(each.b)}});
  }
  return content;
}

}  // namespace

TruncationDialog::TruncationDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent), m_context(context), m_view(new QTableView), m_said(new QLabel) {
  const TruncateModes modes = truncationOf(context.document.directives());
  m_inputs = modesBox(modes.inputs, QStringLiteral("Inputs"));
  m_constants = modesBox(modes.constants, QStringLiteral("Constants"));
  setWindowTitle(QStringLiteral("Truncate wide types"));
  auto* about = new QLabel(aboutText(madeWithEngines(context)));
  about->setWordWrap(true);
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Inputs, and values calculated from them"), m_inputs);
  form->addRow(QStringLiteral("Constants"), m_constants);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(about);
  layout->addLayout(form);
  layout->addWidget(m_said);
  layout->addWidget(m_view, 1);
  layout->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &TruncationDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  makeBeside();
}

void TruncationDialog::makeBeside() {
  m_said->setWordWrap(true);
  m_view->setModel(&m_beside);
  m_view->setItemDelegate(new CellDelegate(m_context.theme, {2}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Truncation by the compiler on screen, beside ours"));
  m_beside.setContent(contentOf({}));
  styleTable(*m_view, {130, 70, 50, 0, 0}, false);
  wrapRows(*m_view);
  const bool isThere = madeWithEngines(m_context) != nullptr;
  m_said->setVisible(isThere);
  m_view->setVisible(isThere);
  if (!isThere) return;
  resize(820, 460);
  for (QComboBox* box : {m_inputs, m_constants})
    connect(box, qOverload<int>(&QComboBox::currentIndexChanged), this, &TruncationDialog::compare);
  compare();
}

/// Our own plan is made on another thread; a later request replaces an earlier one.
void TruncationDialog::compare() {
  const auto snapshot = m_context.document.snapshot();
  if (madeWithEngines(m_context) == nullptr) return;
  const auto work = [snapshot, directives = withTruncation(m_context.document.directives(),
                                                           {modeIn(*m_inputs), modeIn(*m_constants)})](
                        const StopToken& stop) { return truncationBeside(*snapshot->made(), directives, stop); };
  m_said->setText(QStringLiteral("Comparing with our plan…"));
  m_context.jobs.run(kBesideTag, this, work, [this](const Result<std::optional<TruncationBeside>>& beside) {
    if (!beside.ok()) {
      m_said->setText(QStringLiteral("✗ ") + problemInWords(beside.error()));
    } else if (!beside.value()) {
      m_said->setText(QStringLiteral("No value of the network has a type that the target of the engines lacks."));
    } else {
      m_said->setText(QStringLiteral("What becomes of each value whose type the target of the engines lacks:"));
      m_beside.setContent(contentOf(beside.value()->diff));
    }
  });
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
