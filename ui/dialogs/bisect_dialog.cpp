#include "ui/dialogs/bisect_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/docks/copy_command.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

const QString kBusy = QStringLiteral("A search is under way: wait, or stop it.");
constexpr int kEndAskedMs = 4000;  // how long a second Escape is waited for
constexpr int kBisectSeconds = 120;

/// Lists what was tried: levels of optimisation, followed by each kind of thing that can be switched off.
TableContent triedContent(const BisectReport& report) {
  TableContent content{{"Switched off", "Of", "Builds", "So that it is"}, {}, {}};
  const auto number = [](std::int64_t count) {
    return Cell{.text = QString::number(count), .sort = QVariant::fromValue(qlonglong(count)), .number = true};
  };
  for (const BisectLevel& level : report.levels)
    content.rows.push_back({{},
                            {{.text = QStringLiteral("optimisation beyond level %1").arg(qs(level.level))},
                             {},
                             number(1),
                             {.text = QStringLiteral("off by %1").arg(qs(bisectErrorText(level.error)))}}});
  for (const BisectStage& stage : report.stages)
    content.rows.push_back({{},
                            {{.text = qs(stage.what)},
                             number(std::int64_t(stage.switches.size())),
                             number(stage.found.builds),
                             {.text = qs(inWords(stage))}}});
  return content;
}

TableContent culpritsContent(const BisectReport& report) {
  TableContent content{{"Culprit", "Is one of"}, {}, {}};
  const BisectStage* stage = report.stage();
  for (const std::string& name : culpritsOf(report))
    content.rows.push_back({qs(name), {{.text = qs(name), .tone = Tone::Bad}, {.text = qs(stage->what)}}});
  return content;
}

QString outcomeWords(const BisectReport& report, double tolerance) {
  QStringList lines;
  for (const std::string& line : inWords(report, tolerance)) lines << qs(line);
  lines
      << QStringLiteral("%1, %2 s").arg(plural(report.builds, QStringLiteral("build"))).arg(report.seconds, 0, 'f', 1);
  const bool isGood = report.end == CulpritEnd::Found || report.end == CulpritEnd::NotWrong;
  return (isGood ? QStringLiteral("✓ ") : QStringLiteral("✗ ")) + lines.join(QLatin1Char('\n'));
}

QTableView* tableOf(TableModel& model, const DockContext& context, const QString& name, const QList<int>& widths) {
  auto* view = new QTableView;
  view->setModel(&model);
  view->setItemDelegate(new CellDelegate(context.theme, {}, view));
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  view->setAccessibleName(name);
  styleTable(*view, widths, false);
  wrapRows(*view);
  return view;
}

}  // namespace

BisectDialog::BisectDialog(const DockContext& context, WorkerClient& worker, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_allowed(new QLineEdit),
      m_budget(new QSpinBox),
      m_builds(new QSpinBox),
      m_inputs(new InputsButton(context)),
      m_start(new QPushButton(QStringLiteral("Start"))),
      m_stop(plainButton(QStringLiteral("Stop"), QStringLiteral("End the search and keep what it found"))),
      m_leaveOut(plainButton(QStringLiteral("Leave them out"))),
      m_said(new QLabel),
      m_job(worker) {
  setWindowTitle(QStringLiteral("What makes an output wrong"));
  resize(820, 600);
  m_said->setWordWrap(true);
  m_said->setTextFormat(Qt::PlainText);
  m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_tried.setContent(triedContent({}));
  m_culprits.setContent(culpritsContent({}));
  auto* tried = tableOf(m_tried, context, QStringLiteral("What was switched off"), {250, 60, 70, 0});
  m_view = tableOf(m_culprits, context, QStringLiteral("Culprits"), {0, 200});
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  buttons->addButton(m_leaveOut, QDialogButtonBox::ActionRole);
  buttons->addButton(copyCommandButton(context, [this] { return requestCommand(request()); }),
                     QDialogButtonBox::ActionRole);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(makeOptions());
  layout->addWidget(m_said);
  layout->addWidget(m_view, 2);
  layout->addWidget(tried, 2);
  layout->addWidget(buttons);
  m_start->setDefault(true);
  m_endAsked.setSingleShot(true);
  m_endAsked.setInterval(kEndAskedMs);
  connect(&m_endAsked, &QTimer::timeout, this, &BisectDialog::renew);
  connect(&m_job, &WorkerJob::changed, this, &BisectDialog::renew);
  connect(m_allowed, &QLineEdit::textChanged, this, &BisectDialog::renew);
  connect(m_leaveOut, &QPushButton::clicked, this, &BisectDialog::leaveOut);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&context.runs, &Runs::settingsChanged, this, &BisectDialog::renew);
  connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
    if (row.isValid()) goTo(m_context, row.data(kNameRole).toString(), this);
  });
  renew();
}

QLayout* BisectDialog::makeOptions() {
  m_allowed->setText(numberText(m_context.runs.settings().tolerance.rms));
  m_allowed->setAccessibleName(QStringLiteral("Largest error"));
  describe(*m_allowed, usualOption<ErrorsSettings>("tol-rms"));
  describe(*m_budget, usualOption<ErrorsSettings>("budget"), QStringLiteral("until nothing is left to try"));
  m_budget->setSuffix(QStringLiteral(" s"));
  m_budget->setValue(kBisectSeconds);
  m_budget->setAccessibleName(QStringLiteral("Time to search"));
  describe(*m_builds, usualOption<ErrorsSettings>("builds"), QStringLiteral("as many as it takes"));
  m_builds->setAccessibleName(QStringLiteral("Most builds"));
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Largest |Δ| over rms"), m_allowed);
  form->addRow(QStringLiteral("Time to search"), m_budget);
  form->addRow(QStringLiteral("Builds"), m_builds);
  form->addRow(QStringLiteral("Inputs"), m_inputs);
  auto* row = new QHBoxLayout;
  row->addWidget(m_start);
  row->addWidget(m_stop);
  row->addStretch(1);
  form->addRow(row);
  connect(m_start, &QPushButton::clicked, this, &BisectDialog::start);
  connect(m_stop, &QPushButton::clicked, &m_job, &WorkerJob::finish);
  return form;
}

/// Returns what is wrong with the fields, for people; empty if nothing is.
QString BisectDialog::problem() const {
  if (numberIn(*m_allowed)) return {};
  return m_allowed->text().trimmed().isEmpty()
             ? QStringLiteral("Enter the largest error that still counts as right.")
             : QStringLiteral("“%1” is not an error: give a number of 0 or more.").arg(m_allowed->text());
}

WorkerRequest BisectDialog::request() const {
  WorkerRequest request = requestFor(
      m_context, ErrorsSettings{.bisect = true, .seconds = double(m_budget->value()), .builds = m_builds->value()});
  request.tolerance = {.rms = numberIn(*m_allowed)};
  return request;
}

/// Returns the present options without the culprits.
PlanOptions BisectDialog::withoutCulprits() const {
  PlanOptions options = m_context.document.options();
  if (!m_report || !m_report->without) return options;
  options.directives = m_report->without->directives;
  options.compilerOptions = m_report->without->compilerOptions;
  return options;
}

QString BisectDialog::leaveOutRefusal() const {
  if (working()) return kBusy;
  if (!m_report) return QStringLiteral("Search first: no culprit is known yet.");
  if (!m_report->without) return QStringLiteral("There is no culprit that could be left out.");
  if (withoutCulprits() == m_context.document.options()) return QStringLiteral("They are left out already.");
  return {};
}

/// Enables the widgets that can be used now, and updates the texts.
void BisectDialog::renew() {
  const QString busy = working() ? kBusy : QString();
  for (QWidget* field : std::initializer_list<QWidget*>{m_allowed, m_budget, m_builds, m_inputs}) offer(*field, busy);
  const QString wrong = problem();
  offer(*m_start, working() ? busy : wrong);
  offer(*m_stop, working() ? QString() : QStringLiteral("Nothing is under way."));
  offer(*m_leaveOut, leaveOutRefusal());
  m_said->setText(
      working() && m_endAsked.isActive()
          ? QStringLiteral(
                "Press Esc or Close again to end the search and lose its results. Stop ends it and keeps them.")
      : working()       ? m_job.text()
      : wrong.isEmpty() ? m_outcome
                        : QStringLiteral("✗ ") + wrong);
}

void BisectDialog::start() {
  m_report.reset();
  m_outcome.clear();
  m_tried.setContent(triedContent({}));
  m_culprits.setContent(culpritsContent({}));
  m_job.start(request(), bisectReportFromJson, [this](const Result<BisectReport>& report) { show(report); });
}

void BisectDialog::show(const Result<BisectReport>& report) {
  if (!report.ok()) {
    m_outcome =
        report.error().cancelled ? QStringLiteral("Cancelled.") : QStringLiteral("✗ ") + problemInWords(report.error());
    return;
  }
  m_report = report.value();
  m_outcome = outcomeWords(*m_report, numberIn(*m_allowed).value_or(0));
  m_tried.setContent(triedContent(*m_report));
  m_culprits.setContent(culpritsContent(*m_report));
}

/// A single Escape does not end a search that has taken hours.
void BisectDialog::done(int result) {
  if (!working() || m_endAsked.isActive()) return QDialog::done(result);
  m_endAsked.start();
  renew();
}

void BisectDialog::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && event->isAutoRepeat()) return;
  QDialog::keyPressEvent(event);
}

void BisectDialog::leaveOut() {
  if (!leaveOutRefusal().isEmpty()) return;
  QStringList names;
  for (const std::string& name : culpritsOf(*m_report)) names << qs(name);
  m_context.document.edit(QStringLiteral("Leave out %1").arg(names.join(QStringLiteral(", "))), withoutCulprits());
  accept();
}

}  // namespace fusescope
