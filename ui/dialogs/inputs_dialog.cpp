#include "ui/dialogs/inputs_dialog.h"

#include <QDialogButtonBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QShortcut>
#include <QTableView>
#include <QUrl>
#include <QVBoxLayout>
#include <utility>

#include "session/inputs/load_samples.h"
#include "session/operations/shared_settings.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/models/sample_contents.h"

namespace fusescope {

namespace {

/// The results of reading that was done on another thread.
struct Found {
  TableContent content;
  QString words;
  bool random = false;
};

Result<Found> findIn(const Plan& plan, const SampleSource& source) {
  const Samples samples = TRY(loadSamples(plan, source));
  return Found{samplesContent(samples), samplesText(samples), samples.random};
}

}  // namespace

InputsDialog::InputsDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_paths(new QListWidget),
      m_addFiles(plainButton(QStringLiteral("Add files…"),
                             QStringLiteral(".npz: one sample each; .npy and input_0.pb, …: one input each, together a "
                                            "sample; .json: Polygraphy's inputs"))),
      m_addFolder(
          plainButton(QStringLiteral("Add folder…"),
                      QStringLiteral("A folder of .npz, of .npy, or of ONNX test data (input_0.pb, …), or of such "
                                     "folders"))),
      m_remove(
          plainButton(QStringLiteral("Remove"), QStringLiteral("Remove the selected entries from the list (Delete)"))),
      m_random(plainButton(
          QStringLiteral("Random inputs"),
          QStringLiteral("Without files, inputs are random, and every number that is made with them says so"))),
      m_cut(new QCheckBox(QStringLiteral("Cut along axis"))),
      m_axis(new QSpinBox),
      m_said(new QLabel) {
  setWindowTitle(QStringLiteral("Inputs"));
  setAcceptDrops(true);
  resize(700, 520);
  m_said->setWordWrap(true);
  m_said->setTextFormat(Qt::PlainText);
  m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_said->setAccessibleName(QStringLiteral("What was found"));
  auto* found = new QTableView;
  found->setModel(&m_found);
  found->setItemDelegate(new CellDelegate(context.theme, {2}, found));
  found->setSelectionMode(QAbstractItemView::SingleSelection);
  found->setAccessibleName(QStringLiteral("Samples"));
  m_found.setContent({{"Sample", "Input", "Type", "Extents", "Values"}, {}, {}});
  styleTable(*found, {0, 0, 70, 130, 150}, false);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  m_ok = buttons->button(QDialogButtonBox::Ok);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(makeSource(), 2);
  layout->addWidget(m_said);
  layout->addWidget(found, 3);
  layout->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &InputsDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  const SampleSource& now = context.runs.settings().inputs;
  if (now.batchAxis) {
    m_cut->setChecked(true);
    m_axis->setValue(static_cast<int>(*now.batchAxis));
  }
  for (const std::string& path : now.paths) m_paths->addItem(qs(path));
  connect(m_cut, &QCheckBox::toggled, this, &InputsDialog::read);
  connect(m_axis, qOverload<int>(&QSpinBox::valueChanged), this, &InputsDialog::read);
  (now.empty() ? static_cast<QWidget*>(m_addFiles) : m_paths)->setFocus();
  read();
}

QLayout* InputsDialog::makeSource() {
  m_paths->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_paths->setTextElideMode(Qt::ElideMiddle);
  m_paths->setAccessibleName(QStringLiteral("Files and folders"));
  m_source = new HintStack(m_paths, QStringLiteral("No files: inputs are random, and every number that is made with "
                                                   "them says so.\nAdd files or folders, or drop them here."));
  describe(*m_axis, usualOption<InputSettings>("batch-axis"));
  m_axis->setAccessibleName(QStringLiteral("Axis"));
  auto* column = new QVBoxLayout;
  for (QPushButton* each : {m_addFiles, m_addFolder, m_remove, m_random}) column->addWidget(each);
  column->addStretch(1);
  auto* files = new QHBoxLayout;
  files->addWidget(m_source, 1);
  files->addLayout(column);
  auto* axis = new QHBoxLayout;
  axis->addWidget(m_cut);
  axis->addWidget(m_axis);
  axis->addWidget(new QLabel(QStringLiteral("into samples: each gets as many entries as the network takes")), 1);
  auto* whole = new QVBoxLayout;
  whole->addLayout(files, 1);
  whole->addLayout(axis);
  connect(m_addFiles, &QPushButton::clicked, this, &InputsDialog::chooseFiles);
  connect(m_addFolder, &QPushButton::clicked, this, &InputsDialog::chooseFolder);
  connect(m_remove, &QPushButton::clicked, this, &InputsDialog::removeSelected);
  connect(m_random, &QPushButton::clicked, this, [this] {
    m_paths->clear();
    read();
  });
  connect(m_paths, &QListWidget::itemSelectionChanged, this, &InputsDialog::renewButtons);
  auto* remove = new QShortcut(QKeySequence::Delete, m_paths, nullptr, nullptr, Qt::WidgetShortcut);
  connect(remove, &QShortcut::activated, this, &InputsDialog::removeSelected);
  return whole;
}

void InputsDialog::chooseFiles() {
  addPaths(QFileDialog::getOpenFileNames(this, QStringLiteral("Inputs"), QString(),
                                         QStringLiteral("Inputs (*.npz *.npy *.pb *.json);;All files (*)")));
}

void InputsDialog::chooseFolder() {
  const QString folder = QFileDialog::getExistingDirectory(this, QStringLiteral("A folder of inputs"));
  if (!folder.isEmpty()) addPaths({folder});
}

void InputsDialog::addPaths(const QStringList& paths) {
  if (paths.isEmpty()) return;
  m_paths->addItems(paths);
  read();
}

void InputsDialog::removeSelected() {
  if (m_paths->selectedItems().isEmpty()) return;
  qDeleteAll(m_paths->selectedItems());
  read();
}

SampleSource InputsDialog::source() const {
  SampleSource source;
  for (int i = 0; i < m_paths->count(); ++i) source.paths.push_back(m_paths->item(i)->text().toStdString());
  if (m_cut->isChecked() && !source.empty()) source.batchAxis = m_axis->value();
  return source;
}

void InputsDialog::renewButtons() {
  m_source->showContent(m_paths->count() > 0);
  offer(*m_remove, m_paths->selectedItems().isEmpty()
                       ? QStringLiteral("First select the entries to remove in the list.")
                       : QString());
  const bool files = m_paths->count() > 0;
  const QString random = QStringLiteral("Inputs are random, and there is nothing to cut: add files first.");
  offer(*m_random, files ? QString() : QStringLiteral("Inputs are random already."));
  offer(*m_cut, files ? QString() : random);
  offer(*m_axis, !files ? random : !m_cut->isChecked() ? QStringLiteral("Tick the box before it first.") : QString());
}

void InputsDialog::read() {
  renewButtons();
  const auto snapshot = m_context.document.snapshot();
  offer(*m_ok, snapshot ? QStringLiteral("The files are being read.") : QStringLiteral("Open a model first."));
  if (!snapshot) return m_said->setText(m_ok->toolTip());
  m_said->setText(QStringLiteral("Reading …"));
  const auto work = [plan = snapshot->plan, from = source()](const StopToken&) { return findIn(*plan, from); };
  m_context.jobs.run(QStringLiteral("read inputs"), this, work, [this](const Result<Found>& found) {
    offer(*m_ok, found.ok() ? QString() : problemInWords(found.error()));
    markProblem(found.ok() ? nullptr : &found.error());
    if (!std::exchange(m_wasRead, true) && !found.ok()) focusWrong(found.error());
    if (!found.ok()) {
      m_found.setContent({m_found.content().headers, {}, {}});
      return m_said->setText(QStringLiteral("✗ ") + problemText(found.error()));
    }
    m_found.setContent(found.value().content);
    m_said->setText(found.value().random ? QStringLiteral("⚠ %1: numbers made with it say so").arg(found.value().words)
                                         : QStringLiteral("✓ ") + found.value().words);
  });
}

/// Marks the file that cannot be used in the list.
void InputsDialog::markProblem(const Diagnostic* problem) {
  for (int i = 0; i < m_paths->count(); ++i) {
    QListWidgetItem& item = *m_paths->item(i);
    const bool bad =
        problem != nullptr && !problem->where.file.empty() && qs(problem->where.file).startsWith(QString(item.text()));
    item.setForeground(bad ? QBrush(m_context.theme().error) : QBrush());
    item.setToolTip(bad ? qs(problem->text()) : item.text());
  }
}

/// Sets the focus to the axis if it is wrong, otherwise to the first file that cannot be used.
void InputsDialog::focusWrong(const Diagnostic& problem) {
  if (m_cut->isChecked() && problem.where.attribute == "--batch-axis") return m_axis->setFocus();
  for (int i = 0; i < m_paths->count(); ++i) {
    if (m_paths->item(i)->foreground().style() == Qt::NoBrush) continue;
    m_paths->setCurrentRow(i);
    return m_paths->setFocus();
  }
}

void InputsDialog::accept() {
  if (!m_ok->isEnabled()) return;
  RunSettings settings = m_context.runs.settings();
  settings.inputs = source();
  m_context.runs.setSettings(settings);
  QDialog::accept();
}

void InputsDialog::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void InputsDialog::dropEvent(QDropEvent* event) {
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) paths << url.toLocalFile();
  addPaths(paths);
  event->acceptProposedAction();
}

}  // namespace fusescope
