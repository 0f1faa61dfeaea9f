#include "ui/dialogs/calibrate_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "base/files.h"
#include "planning/patterns/match_pattern.h"
#include "planning/quantized_model.h"
#include "planning/types/without_lowered_types.h"
#include "session/inputs/random_inputs.h"
#include "session/operations/shared_settings.h"
#include "ui/docks/copy_command.h"
#include "ui/document/directive_edits.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/models/ranges_contents.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

constexpr int kPatternLines = 2;

void addMethods(QComboBox& box, std::initializer_list<std::pair<RangeMethod, const char*>> methods) {
  for (const auto& [method, words] : methods)
    box.addItem(QStringLiteral("%1: %2").arg(qs(name(method)), QString::fromUtf8(words)), static_cast<int>(method));
}

RangeMethod methodOf(const QComboBox& box) {
  return static_cast<RangeMethod>(box.currentData().toInt());
}

std::vector<std::string> patternsIn(const QPlainTextEdit& field) {
  std::vector<std::string> patterns;
  for (const QString& line : field.toPlainText().split(QLatin1Char('\n')))
    if (!line.trimmed().isEmpty()) patterns.push_back(line.trimmed().toStdString());
  return patterns;
}

/// Returns how many nodes the patterns match together. A pattern that matches nothing is an error.
Result<std::size_t> countMatches(const Model& model, const std::vector<std::string>& patterns, const StopToken& stop) {
  PatternMatcher matcher(model);
  std::set<NodeId> nodes;
  for (const std::string& pattern : patterns) {
    const PatternMatch match = TRY(matcher.match(pattern, stop));
    nodes.insert(match.nodes.begin(), match.nodes.end());
  }
  return nodes.size();
}

}  // namespace

CalibrateDialog::CalibrateDialog(const DockContext& context, WorkerClient& worker, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_method(new QComboBox),
      m_weightMethod(new QComboBox),
      m_weightOnly(new QComboBox),
      m_percentile(new QDoubleSpinBox),
      m_smoothing(new QDoubleSpinBox),
      m_symmetric(new QCheckBox(QStringLiteral("Symmetric: no zero points"))),
      m_perChannel(new QCheckBox(QStringLiteral("A range for each channel"))),
      m_correctBiases(new QCheckBox(QStringLiteral("Correct biases"))),
      m_everywhere(new QCheckBox(QStringLiteral("Use int8 wherever the rules let it"))),
      m_exclude(new QPlainTextEdit),
      m_excluded(new QLabel),
      m_block(new QSpinBox),
      m_inputs(new InputsButton(context)),
      m_start(new QPushButton(QStringLiteral("Calibrate"))),
      m_stop(plainButton(QStringLiteral("Cancel"))),
      m_form(new QFormLayout),
      m_plot(new HistogramPlot(context.theme)),
      m_view(new QTableView),
      m_said(new QLabel),
      m_job(worker) {
  setWindowTitle(QStringLiteral("Calibrate: ranges for int8"));
  resize(920, 700);
  m_said->setWordWrap(true);
  m_said->setTextFormat(Qt::PlainText);
  m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_view->setModel(&m_edges);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Edges"));
  m_edges.setContent(rangesContent(nullptr));
  styleTable(*m_view, {0, 86, 86, 86, 86, 86, 86}, false);
  auto* upper = new QHBoxLayout;
  upper->addLayout(makeOptions(), 3);
  upper->addWidget(m_plot, 4);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(upper, 3);
  layout->addWidget(m_said);
  layout->addWidget(m_view, 3);
  layout->addWidget(makeButtons());
  m_start->setDefault(true);
  connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CalibrateDialog::showEdge);
  connect(&m_job, &WorkerJob::changed, this, &CalibrateDialog::renew);
  connect(m_exclude, &QPlainTextEdit::textChanged, this, &CalibrateDialog::findExcluded);
  for (QComboBox* box : {m_method, m_weightOnly})
    connect(box, qOverload<int>(&QComboBox::currentIndexChanged), this, &CalibrateDialog::renew);
  connect(m_everywhere, &QCheckBox::toggled, this, &CalibrateDialog::renew);
  connect(m_block, qOverload<int>(&QSpinBox::valueChanged), this, &CalibrateDialog::renew);
  const auto known = context.document.ranges();
  readSettings(known == nullptr || known->from != Ranges().from ? CalibrationSettings() : known->settings);
  showFound({}, {});
  if (known != nullptr)
    m_context.jobs.run(
        QStringLiteral("ranges"), this, [known](const StopToken&) { return foundOf(known); },
        [this](const Found& found) {
          if (m_ranges == nullptr) showFound(found, QStringLiteral("of the session"));
        });
}

void CalibrateDialog::makeFields() {
  addMethods(*m_method, {{RangeMethod::Mse, "least squared error"},
                         {RangeMethod::MinMax, "all that is seen"},
                         {RangeMethod::Percentile, "all but a share at the ends"},
                         {RangeMethod::Entropy, "least information lost"}});
  m_method->setAccessibleName(QStringLiteral("Method"));
  describe(*m_method, usualOption<CalibrateSettings>("method"));
  m_percentile->setDecimals(4);
  describe(*m_percentile, usualOption<CalibrateSettings>("percentile"));
  m_percentile->setSuffix(QStringLiteral(" %"));
  describe(*m_symmetric, usualOption<CalibrateSettings>("symmetric"));
  m_exclude->setPlaceholderText(QStringLiteral("nodes that stay floats, a pattern a line: op:Gemm, head.*"));
  m_exclude->setTabChangesFocus(true);
  m_exclude->setProperty("field", true);  // it looks like a field to type in
  m_exclude->setAccessibleName(QStringLiteral("Patterns of nodes that stay floats"));
  m_exclude->setFixedHeight(m_exclude->fontMetrics().lineSpacing() * kPatternLines + 16);
  m_excluded->setWordWrap(true);
  m_everywhere->setChecked(true);
  m_everywhere->setToolTip(QStringLiteral(
      "If this is off, the ranges are kept with the session, and the plan stays as it is until int8 is chosen"));
}

/// Makes the widgets for weights that are held as integers while everything else remains in floats.
QLayout* CalibrateDialog::makeWeightOnly() {
  PlanSettings described;
  const std::vector<Option> plan = described.planOptions();
  m_weightOnly->addItem(QStringLiteral("stay floats"), static_cast<int>(DataType::Undefined));
  m_weightOnly->addItem(QStringLiteral("int8"), static_cast<int>(DataType::I8));
  m_weightOnly->addItem(QStringLiteral("int4"), static_cast<int>(DataType::I4));
  describe(*m_weightOnly, optionNamed(plan, "weight-only"));
  const WeightOnly& now = m_context.document.options().weightOnly;
  m_weightOnly->setCurrentIndex(m_weightOnly->findData(static_cast<int>(now.type)));
  describe(*m_block, optionNamed(plan, "block"), QStringLiteral("a channel"));
  m_block->setPrefix(QStringLiteral("blocks of "));
  m_block->setValue(static_cast<int>(now.block));
  auto* row = new QHBoxLayout;
  row->addWidget(m_weightOnly, 1);
  row->addWidget(m_block, 1);
  return row;
}

QLayout* CalibrateDialog::makeOptions() {
  makeFields();
  m_advanced = new Fold(QStringLiteral("Weights, biases, outliers"), makeAdvanced());
  auto* row = new QHBoxLayout;
  row->addWidget(m_start);
  row->addWidget(m_stop);
  row->addStretch(1);
  m_form->addRow(QStringLiteral("Inputs"), m_inputs);
  m_form->addRow(QStringLiteral("Method"), m_method);
  m_form->addRow(QStringLiteral("Within"), m_percentile);
  m_form->addRow(QString(), m_symmetric);
  m_form->addRow(QStringLiteral("Exclude"), m_exclude);
  m_form->addRow(QString(), m_excluded);
  m_form->addRow(m_advanced);
  m_form->addRow(row);
  m_form->addRow(QStringLiteral("Then"), m_everywhere);
  m_form->addRow(QStringLiteral("Other weights"), makeWeightOnly());
  connect(m_start, &QPushButton::clicked, this, &CalibrateDialog::start);
  connect(m_stop, &QPushButton::clicked, &m_job, &WorkerJob::cancel);
  return m_form;
}

QWidget* CalibrateDialog::makeAdvanced() {
  addMethods(*m_weightMethod, {{RangeMethod::Mse, "least squared error"},
                               {RangeMethod::MinMax, "all of them"},
                               {RangeMethod::Percentile, "all but a share"}});
  describe(*m_weightMethod, usualOption<CalibrateSettings>("weights"));
  describe(*m_perChannel, usualOption<CalibrateSettings>("per-channel"));
  describe(*m_correctBiases, usualOption<CalibrateSettings>("correct-biases"));
  m_smoothing->setSingleStep(0.1);
  describe(*m_smoothing, usualOption<CalibrateSettings>("smooth"), QStringLiteral("not"));
  auto* advanced = new QWidget;
  auto* form = new QFormLayout(advanced);
  form->setContentsMargins(16, 0, 0, 0);
  form->addRow(QStringLiteral("Ranges of weights"), m_weightMethod);
  form->addRow(QString(), m_perChannel);
  form->addRow(QString(), m_correctBiases);
  form->addRow(QStringLiteral("Smooth outliers"), m_smoothing);
  return advanced;
}

QWidget* CalibrateDialog::makeButtons() {
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  const auto add = [&](const QString& text, const QString& tip) {
    QPushButton* button = plainButton(text, tip);
    buttons->addButton(button, QDialogButtonBox::ActionRole);
    return button;
  };
  m_open = add(QStringLiteral("Open ranges…"),
               QStringLiteral("A file that Calibrate or the command calibrate saved, or TensorRT's calibration cache"));
  m_save = add(QStringLiteral("Save ranges…"), QStringLiteral("For --ranges of the commands, and for other sessions"));
  m_drop = add(QStringLiteral("Take away"), QStringLiteral("Plan without ranges and int8 again; undo restores them"));
  buttons->addButton(copyCommandButton(m_context, [this] { return requestCommand(request()); }),
                     QDialogButtonBox::ActionRole);
  m_take = add(QStringLiteral("Use"), QStringLiteral("Plan with these settings, in one step that can be undone"));
  connect(m_open, &QPushButton::clicked, this, &CalibrateDialog::chooseFile);
  connect(m_save, &QPushButton::clicked, this, &CalibrateDialog::saveFile);
  connect(m_drop, &QPushButton::clicked, this, &CalibrateDialog::drop);
  connect(m_take, &QPushButton::clicked, this, &CalibrateDialog::take);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  return buttons;
}

void CalibrateDialog::readSettings(const CalibrationSettings& settings) {
  m_method->setCurrentIndex(m_method->findData(static_cast<int>(settings.choice.method)));
  m_percentile->setValue(settings.choice.percentile);
  m_symmetric->setChecked(settings.choice.symmetric);
  m_weightMethod->setCurrentIndex(m_weightMethod->findData(static_cast<int>(settings.weightMethod)));
  m_perChannel->setChecked(settings.perChannel);
  m_correctBiases->setChecked(settings.correctBiases);
  m_smoothing->setValue(settings.smoothing);
  QStringList patterns;
  for (const std::string& pattern : settings.exclude) patterns << qs(pattern);
  m_exclude->setPlainText(patterns.join(QLatin1Char('\n')));
}

CalibrationSettings CalibrateDialog::settings() const {
  return {.choice = {.method = methodOf(*m_method),
                     .percentile = m_percentile->value(),
                     .symmetric = m_symmetric->isChecked()},
          .weightMethod = methodOf(*m_weightMethod),
          .perChannel = m_perChannel->isChecked(),
          .correctBiases = m_correctBiases->isChecked(),
          .smoothing = m_smoothing->value(),
          .exclude = patternsIn(*m_exclude)};
}

/// Returns the plan's options with the values of the dialog.
PlanOptions CalibrateDialog::editedOptions() const {
  PlanOptions options = m_context.document.options();
  if (m_ranges != nullptr && m_everywhere->isChecked()) {
    options.ranges = m_ranges;
    if (std::ranges::find(options.precisions, DataType::I8) == options.precisions.end())
      options.precisions.insert(options.precisions.begin(), DataType::I8);
  }
  options.weightOnly.type = static_cast<DataType>(m_weightOnly->currentData().toInt());
  options.weightOnly.block = options.weightOnly.type == DataType::Undefined ? 0 : m_block->value();
  return options;
}

void CalibrateDialog::findExcluded() {
  const auto patterns = patternsIn(*m_exclude);
  m_patternsFit = patterns.empty();
  m_excluded->clear();
  renew();
  if (patterns.empty()) return m_context.jobs.cancel(QStringLiteral("excluded nodes"));
  const auto model = m_context.document.model();
  m_context.jobs.run(
      QStringLiteral("excluded nodes"), this,
      [model, patterns](const StopToken& stop) { return countMatches(*model, patterns, stop); },
      [this](const Result<std::size_t>& count) {
        m_patternsFit = count.ok();
        m_excluded->setText(count.ok()
                                ? QStringLiteral("%1 of the patterns")
                                      .arg(plural(static_cast<std::int64_t>(count.value()), QStringLiteral("node")))
                                : QStringLiteral("✗ ") + problemInWords(count.error()));
        renew();
      });
}

CalibrateDialog::Found CalibrateDialog::foundOf(std::shared_ptr<const Ranges> ranges) {
  TableContent content = rangesContent(ranges.get());
  return {std::move(ranges), std::move(content)};
}

WorkerRequest CalibrateDialog::request() const {
  WorkerRequest request = requestFor(m_context, CalibrateSettings{.calibration = settings(), .output = {}});
  request.source.options = withoutLoweredTypes(request.source.options);
  return request;
}

void CalibrateDialog::start() {
  const WorkerRequest request = this->request();
  m_problem.clear();
  const auto decode = [](const Json& reply) -> Result<Found> {
    return foundOf(std::make_shared<const Ranges>(TRY(rangesFromJson(reply))));
  };
  m_job.start(request, decode, [this](const Result<Found>& found) {
    if (found.ok()) return showFound(found.value(), {});
    m_problem = found.error().cancelled ? QStringLiteral("Cancelled; nothing was changed.")
                                        : QStringLiteral("✗ ") + problemInWords(found.error());
  });
}

void CalibrateDialog::chooseFile() {
  const QString path = QFileDialog::getOpenFileName(
      this, QStringLiteral("Open ranges"), QString(),
      QStringLiteral("Ranges (*.json);;TensorRT's calibration cache (*.cache *.calib *.bin);;All files (*)"));
  if (!path.isEmpty()) openFile(path);
}

void CalibrateDialog::openFile(const QString& path) {
  m_problem.clear();
  const auto work = [file = path.toStdString()](const StopToken&) -> Result<Found> {
    return foundOf(std::make_shared<const Ranges>(TRY(readRanges(file))));
  };
  m_context.jobs.run(QStringLiteral("ranges"), this, work, [this, path](const Result<Found>& found) {
    if (found.ok()) return showFound(found.value(), QFileInfo(path).fileName());
    m_problem = QStringLiteral("✗ ") + problemText(found.error());
    renew();
  });
}

void CalibrateDialog::saveFile() {
  const QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Save the ranges"),
                                                    besideModel(m_context.document, QStringLiteral("ranges.json")),
                                                    QStringLiteral("Ranges (*.json)"));
  if (path.isEmpty()) return;
  m_problem.clear();
  const auto work = [ranges = m_ranges, file = path.toStdString()](const StopToken&) {
    return writeFileAtomically(file, rangesText(*ranges));
  };
  m_context.jobs.run(QStringLiteral("save ranges"), this, work, [this, path](const Status& written) {
    m_problem =
        written.ok() ? QStringLiteral("✓ Saved as %1").arg(path) : QStringLiteral("✗ ") + problemText(written.error());
    renew();
  });
}

void CalibrateDialog::showFound(const Found& found, const QString& from) {
  m_ranges = found.ranges;
  m_from = from;
  m_edges.setContent(m_ranges ? found.content : rangesContent(nullptr));
  if (m_ranges != nullptr) {
    m_view->selectRow(0);
  } else {
    m_plot->clear(QStringLiteral("The numbers of each edge appear here: calibrate, or open a file of ranges."));
  }
  renew();
}

void CalibrateDialog::showEdge(const QModelIndex& row) {
  if (m_ranges == nullptr || !row.isValid()) return;
  const QString value = row.data(kNameRole).toString();
  const auto edge = m_ranges->edges.find(value.toStdString());
  if (edge != m_ranges->edges.end()) m_plot->setEdge(value, edge->second);
}

/// Enables the widgets that can be used now, and updates the texts.
void CalibrateDialog::renew() {
  const QString busy = working() ? QStringLiteral("The network is being calibrated: wait, or cancel it.") : QString();
  for (QWidget* field : std::initializer_list<QWidget*>{m_inputs, m_method, m_percentile, m_symmetric, m_exclude,
                                                        m_weightMethod, m_perChannel, m_correctBiases, m_smoothing})
    offer(*field, busy);
  showRow(*m_form, m_percentile, methodOf(*m_method) == RangeMethod::Percentile);
  showRow(*m_form, m_excluded, !m_excluded->text().isEmpty());
  const bool integers = m_weightOnly->currentData().toInt() != static_cast<int>(DataType::Undefined);
  offer(*m_block, integers ? QString() : QStringLiteral("These weights stay floats: choose int8 or int4 first."));
  const auto unless = [&busy](bool able, const QString& refusal) {
    return !busy.isEmpty() ? busy : able ? QString() : refusal;
  };
  offer(*m_start, unless(m_patternsFit, QStringLiteral("It is not known yet what the patterns under Exclude match.")));
  offer(*m_stop, working() ? QString() : QStringLiteral("Nothing is under way."));
  offer(*m_open, busy);
  offer(*m_save, unless(m_ranges != nullptr, QStringLiteral("There are no ranges yet: calibrate, or open a file.")));
  offer(*m_drop, unless(m_context.document.ranges() != nullptr || asksForIntegers(m_context.document.options()),
                        QStringLiteral("The plan has neither ranges nor int8.")));
  offer(
      *m_take,
      unless(changesSomething(),
             QStringLiteral(
                 "The plan has these settings already: calibrate, open ranges, or choose a type for other weights.")));
  QStringList lines;
  if (m_ranges != nullptr)
    lines << (m_ranges->randomInputs ? QStringLiteral("⚠ ") : QStringLiteral("✓ ")) + rangesInWords(*m_ranges, m_from);
  if (working()) lines << m_job.text();
  if (!m_problem.isEmpty()) lines << m_problem;
  m_said->setText(lines.join(QLatin1Char('\n')));
}

/// Returns whether accepting the dialog would change something.
bool CalibrateDialog::changesSomething() const {
  if (!(editedOptions() == m_context.document.options())) return true;
  return m_ranges != nullptr && !(Calibrated{m_ranges} == Calibrated{m_context.document.ranges()});
}

void CalibrateDialog::drop() {
  m_context.document.edit(QStringLiteral("Remove the ranges"), withoutInt8(m_context.document.options()));
  m_context.document.setCalibrated(nullptr);
  showFound({}, {});
}

void CalibrateDialog::take() {
  if (m_ranges != nullptr) m_context.document.setCalibrated(m_ranges);
  const QString text = m_ranges != nullptr ? QStringLiteral("Calibrate: ") + rangesInWords(*m_ranges, m_from)
                                           : QStringLiteral("Weights as %1").arg(m_weightOnly->currentText());
  m_context.document.edit(text, editedOptions());
  accept();
}

}  // namespace fusescope
