#include "ui/dialogs/tune_dialog.h"

#include <QDateTime>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <tuple>

#include "ir/graph.h"
#include "planning/types/pin_choices.h"
#include "probe/environments.h"
#include "ui/dialogs/tune_files.h"
#include "ui/dialogs/tune_words.h"
#include "ui/docks/copy_command.h"
#include "ui/document/directive_edits.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/tuning_words.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

const std::string& stateFile(const WorkerRequest& tune) {
  return std::get<TuneSettings>(tune.settings).state;
}

constexpr int kTuneSeconds = 60;

TableContent pinsContent(const std::vector<TunedPin>& pins) {
  TableContent content{{"Node", "Type", "Error without it", "Why"}, {}, {}};
  for (const TunedPin& pin : pins)
    content.rows.push_back({qs(pin.node),
                            {{.text = qs(pin.node)},
                             {.text = qs(pin.type)},
                             {.text = pin.errorWithout ? errorText(*pin.errorWithout) : QStringLiteral("not tried"),
                              .sort = pin.errorWithout.value_or(kUnknownLast),
                              .number = true},
                             {.text = qs(pin.why), .tip = qs(pin.why), .tone = Tone::Dim}}});
  return content;
}

}  // namespace

TuneDialog::TuneDialog(const DockContext& context, WorkerClient& worker, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_precision(new QComboBox),
      m_output(new QComboBox),
      m_allowed(new QLineEdit),
      m_speedup(new QLineEdit),
      m_metric(new QLineEdit),
      m_budget(new QSpinBox),
      m_evaluations(new QSpinBox),
      m_seed(new QSpinBox),
      m_explain(new QCheckBox(QStringLiteral("Try the network without each pin"))),
      m_baselines(new QCheckBox(QStringLiteral("Also run the known search methods"))),
      m_goOn(new QCheckBox),
      m_inputs(new InputsButton(context)),
      m_start(new QPushButton(QStringLiteral("Start"))),
      m_stop(plainButton(QStringLiteral("Stop"), QStringLiteral("End with the best so far"))),
      m_plot(new ErrorPlot(context.theme)),
      m_said(new QLabel),
      m_job(worker) {
  setWindowTitle(QStringLiteral("Tune: the few pins that are needed"));
  resize(900, 660);
  m_said->setWordWrap(true);
  m_said->setTextFormat(Qt::PlainText);
  m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_pins.setContent(pinsContent({}));
  showPoints({}, {});
  auto* pins = new QTableView;
  pins->setModel(&m_pins);
  pins->setItemDelegate(new CellDelegate(context.theme, {1}, pins));
  pins->setAccessibleName(QStringLiteral("Pins"));
  styleTable(*pins, {170, 56, 126, 0}, false);
  wrapRows(*pins);
  auto* upper = new QHBoxLayout;
  upper->addLayout(makeOptions(), 3);
  upper->addWidget(m_plot, 4);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  m_take = plainButton(QStringLiteral("Use these pins"));
  buttons->addButton(m_take, QDialogButtonBox::ActionRole);
  buttons->addButton(copyCommandButton(context, [this] { return requestCommand(request()); }),
                     QDialogButtonBox::ActionRole);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(upper, 3);
  layout->addWidget(m_said);
  layout->addWidget(pins, 2);
  layout->addWidget(buttons);
  m_start->setDefault(true);
  fillChoices();
  readSettings(context.runs.settings().tune);
  m_job.listenTo(QLatin1String(kTuneBetterPhase), [this](const QString& detail) { heardBetter(detail); });
  m_job.listenTo(QLatin1String(kTuneTryPhase), [this](const QString& detail) {
    m_tried = tunedTryFromJson(Json::parse(detail.toStdString(), nullptr, false));
  });
  connect(&m_job, &WorkerJob::changed, this, &TuneDialog::renew);
  connect(m_take, &QPushButton::clicked, this, &TuneDialog::take);
  connect(m_plot, &ErrorPlot::chosen, this, &TuneDialog::choose);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&context.runs, &Runs::settingsChanged, this, &TuneDialog::renew);
  for (QLineEdit* field : {m_allowed, m_speedup, m_metric})
    connect(field, &QLineEdit::textChanged, this, &TuneDialog::renew);
  for (QComboBox* box : {m_precision, m_output})
    connect(box, qOverload<int>(&QComboBox::currentIndexChanged), this, &TuneDialog::renew);
  renew();
  if (const Problem wrong = problem(); wrong.field != nullptr) wrong.field->setFocus();
  readKept();
}

QLayout* TuneDialog::makeOptions() {
  m_precision->setAccessibleName(QStringLiteral("Lower to"));
  m_goOn->setChecked(true);
  m_allowed->setAccessibleName(QStringLiteral("Largest error"));
  m_allowed->setPlaceholderText(QStringLiteral("as little as the speed-up allows"));
  describe(*m_allowed, usualOption<TuneSettings>("max-error"));
  describe(*m_output, usualOption<TuneSettings>("of"));
  describe(*m_budget, usualOption<TuneSettings>("budget"), QStringLiteral("until nothing is left to try"));
  m_budget->setSuffix(QStringLiteral(" s"));
  m_advanced = new Fold(QStringLiteral("Speed-up, metric, limits"), makeAdvanced());
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Lower to"), m_precision);
  form->addRow(QStringLiteral("Largest |Δ| over rms"), m_allowed);
  form->addRow(QStringLiteral("of output"), m_output);
  form->addRow(QStringLiteral("Time to search"), m_budget);
  form->addRow(QStringLiteral("Inputs"), m_inputs);
  form->addRow(m_advanced);
  auto* row = new QHBoxLayout;
  row->addWidget(m_start);
  row->addWidget(m_stop);
  row->addStretch(1);
  form->addRow(m_goOn);
  form->addRow(row);
  connect(m_start, &QPushButton::clicked, this, &TuneDialog::start);
  connect(m_stop, &QPushButton::clicked, &m_job, &WorkerJob::finish);
  return form;
}

QWidget* TuneDialog::makeAdvanced() {
  m_speedup->setPlaceholderText(QStringLiteral("no minimum"));
  describe(*m_speedup, usualOption<TuneSettings>("min-speedup"));
  m_speedup->setAccessibleName(QStringLiteral("Least speed-up"));
  m_metric->setPlaceholderText(QStringLiteral("a command; max|Δ| over rms without one"));
  describe(*m_metric, usualOption<TuneSettings>("metric"));
  m_metric->setAccessibleName(QStringLiteral("Metric"));
  describe(*m_evaluations, usualOption<TuneSettings>("evaluations"), QStringLiteral("as many as it takes"));
  describe(*m_seed, usualOption<TuneSettings>("seed"));
  describe(*m_explain, usualOption<TuneSettings>("explain"));
  describe(*m_baselines, usualOption<TuneSettings>("baselines"));
  auto* advanced = new QWidget;
  auto* form = new QFormLayout(advanced);
  form->setContentsMargins(16, 0, 0, 0);
  form->addRow(QStringLiteral("Least speed-up"), m_speedup);
  form->addRow(QStringLiteral("Metric"), m_metric);
  form->addRow(QStringLiteral("Evaluations"), m_evaluations);
  form->addRow(QStringLiteral("Seed"), m_seed);
  form->addRow(QString(), m_explain);
  form->addRow(QString(), m_baselines);
  return advanced;
}

void TuneDialog::fillChoices() {
  const PlanDocument& document = m_context.document;
  std::vector<Precisions> lowered = precisionChoices();
  std::erase(lowered, Precisions());
  addPrecisions(*m_precision, lowered, document.ranges() != nullptr);
  const int now = m_precision->findText(precisionsText(document.options().precisions));
  m_precision->setCurrentIndex(std::max(now, 0));
  m_output->addItem(QStringLiteral("the worst of all"), QString());
  const Graph& graph = document.snapshot()->graph();
  for (const ValueId output : graph.outputs())
    m_output->addItem(qs(graph.value(output).name), qs(graph.value(output).name));
}

void TuneDialog::readSettings(const TuneSettings& settings) {
  const bool fresh = settings == TuneSettings();  // whether nothing has been requested yet in this session
  m_allowed->setText(numberText(fresh ? m_context.runs.settings().tolerance.rms : settings.goal.maxError));
  m_speedup->setText(numberText(settings.goal.minSpeedup));
  m_metric->setText(qs(settings.metric));
  m_metricOfSession = settings.metric;
  m_budget->setValue(fresh ? kTuneSeconds : static_cast<int>(settings.goal.seconds));
  m_evaluations->setValue(
      static_cast<int>(std::min<std::int64_t>(settings.goal.evaluations, m_evaluations->maximum())));
  m_seed->setValue(
      static_cast<int>(std::min<std::uint64_t>(settings.goal.seed, static_cast<std::uint64_t>(m_seed->maximum()))));
  m_explain->setChecked(settings.explain);
  m_baselines->setChecked(settings.goal.baselines);
  m_output->setCurrentIndex(std::max(0, m_output->findData(qs(settings.of))));
  m_advanced->setOpen(settings.goal.minSpeedup || !settings.metric.empty() || settings.goal.evaluations > 0);
}

TuneSettings TuneDialog::settings() const {
  return {.goal = {.maxError = numberIn(*m_allowed),
                   .minSpeedup = numberIn(*m_speedup),
                   .evaluations = m_evaluations->value(),
                   .seconds = double(m_budget->value()),
                   .seed = static_cast<std::uint64_t>(m_seed->value()),
                   .baselines = m_baselines->isChecked()},
          .of = m_output->currentData().toString().toStdString(),
          .metric = m_metric->text().trimmed().toStdString(),
          .explain = m_explain->isChecked()};
}

TuneDialog::Problem TuneDialog::problem() const {
  const auto wrong = [](const QLineEdit& field) { return !field.text().trimmed().isEmpty() && !numberIn(field); };
  if (wrong(*m_allowed))
    return {m_allowed, QStringLiteral("“%1” is not an error: give a number of 0 or more.").arg(m_allowed->text())};
  if (wrong(*m_speedup) || numberIn(*m_speedup) == 0.0)
    return {m_speedup, QStringLiteral("“%1” is not a speed-up: give a number above 0.").arg(m_speedup->text())};
  if (!numberIn(*m_allowed) && !numberIn(*m_speedup))
    return {m_allowed, QStringLiteral("Say how large the error may be, or how large the speed-up must be.")};
  return {};
}

WorkerRequest TuneDialog::request() const {
  TuneSettings settings = this->settings();
  WorkerRequest request = requestFor(m_context, settings);
  if (m_taken && m_taken->with == m_context.document.options()) request.source.options.directives = m_taken->without;
  request.source.options.precisions = m_precision->currentData().value<Precisions>();
  request.source.options = withRangesAsAsked(std::move(request.source.options), m_context.document.ranges());
  settings.state =
      tuneStateFile(request, m_context.document.modelFile().identity(), m_context.controller.engineFolder());
  request.settings = settings;
  return request;
}

/// Enables the widgets that can be used now, and updates the texts.
void TuneDialog::renew() {
  const QString busy = working() ? QStringLiteral("A search is under way: wait, or stop it.") : QString();
  for (QWidget* field : std::initializer_list<QWidget*>{m_precision, m_allowed, m_output, m_budget, m_inputs, m_speedup,
                                                        m_metric, m_evaluations, m_seed, m_explain, m_baselines})
    offer(*field, busy);
  if (!working()) {
    const QFileInfo state(qs(stateFile(request())));
    if (state.exists() && !m_goOn->isVisibleTo(this)) m_goOn->setChecked(true);
    m_goOn->setVisible(state.exists());
    m_goOn->setText(QStringLiteral("Go on from the search of %1")
                        .arg(state.lastModified().toString(QStringLiteral("yyyy-MM-dd HH:mm"))));
  }
  offer(*m_goOn, busy);
  offer(*m_start, working() ? busy : problem().text);
  offer(*m_stop, working() ? QString() : QStringLiteral("Nothing is under way."));
  offer(*m_take, working()             ? busy
                 : !m_answer           ? QStringLiteral("Search first: there are no pins yet.")
                 : shownPins().empty() ? QStringLiteral("There is no pin to use: none is needed.")
                 : shownAreTaken()     ? QStringLiteral("The plan has these pins already.")
                                       : QString());
  m_said->setText(words());
}

QString TuneDialog::words() const {
  if (working()) {
    const QString better =
        m_better.empty() ? QString() : QStringLiteral(" · best so far: ") + pointWords(m_better.back());
    const QString tried = m_tried ? QStringLiteral(" · ") + triedWords(*m_tried) : QString();
    return m_job.text() + tried + better;
  }
  if (const Problem wrong = problem(); wrong.field != nullptr) return QStringLiteral("✗ ") + wrong.text;
  if (!m_answer) return m_outcome;
  QStringList lines{m_outcome};
  if (shownAreTaken()) lines.prepend(QStringLiteral("✓ The plan has these pins."));
  if (m_plot->current() >= 0) lines << choiceWords(shownPoint(), *m_answer);
  return lines.join(QLatin1Char('\n'));
}

/// A metric is a command for a shell. One that a session brought is not run before the user has seen all of it and
/// agreed; what the user typed here was seen.
bool TuneDialog::mayRunMetric(const std::string& metric) {
  if (metric.empty() || isConfirmed(metric)) return true;
  if (metric == m_metricOfSession) {
    QMessageBox box(
        QMessageBox::Warning, windowTitle(),
        QStringLiteral("The session brings this command as the metric. It runs on this machine, once for each "
                       "set of pins:"),
        QMessageBox::Yes | QMessageBox::Cancel, this);
    box.setTextFormat(Qt::PlainText);
    box.setInformativeText(qs(metric));
    box.button(QMessageBox::Yes)->setText(QStringLiteral("Run it"));
    box.setDefaultButton(QMessageBox::Cancel);
    if (box.exec() != QMessageBox::Yes) return false;
  }
  std::ignore = confirm(metric);  // a command that cannot be stored is asked about again
  return true;
}

void TuneDialog::start() {
  const WorkerRequest asked = request();
  if (!mayRunMetric(std::get<TuneSettings>(asked.settings).metric)) return;
  if (m_goOn->isVisibleTo(this) && !m_goOn->isChecked()) QFile::remove(qs(stateFile(asked)));
  m_goOn->setChecked(true);
  QDir().mkpath(QFileInfo(qs(stateFile(asked))).path());
  m_answer.reset();
  m_better.clear();
  m_tried.reset();
  m_outcome.clear();
  m_pins.setContent(pinsContent({}));
  RunSettings settings = m_context.runs.settings();
  settings.tune = std::get<TuneSettings>(asked.settings);
  settings.tune.state.clear();  // the state is found again by the request
  m_context.runs.setSettings(settings);
  showPoints({}, {});
  const auto decode = [file = tuneAnswerFile(asked, m_context.document.modelFile().identity(),
                                             m_context.controller.engineFolder())](const Json& reply) {
    return keepTuneAnswer(reply, file);
  };
  m_job.start(asked, decode, [this](const Result<TuneAnswer>& answer) { finished(answer); });
}

void TuneDialog::heardBetter(const QString& detail) {
  const auto points = tunedPointsFromJson(Json::parse(detail.toStdString(), nullptr, false));
  if (!points.ok()) return;
  m_better = points.value();
  showPoints(m_better, {});
}

void TuneDialog::showPoints(const std::vector<TunedPoint>& points, const std::optional<TunedPoint>& chosen) {
  m_plotted = points;
  m_plot->setContent(tunePlotContent(points, chosen, m_context.runs.settings().tune.goal.maxError));
}

void TuneDialog::finished(const Result<TuneAnswer>& answer) {
  if (!answer.ok()) {
    m_outcome =
        answer.error().cancelled ? QStringLiteral("Cancelled.") : QStringLiteral("✗ ") + problemInWords(answer.error());
    return;
  }
  showAnswer(answer.value());
}

void TuneDialog::showAnswer(const TuneAnswer& answer) {
  m_answer = answer;
  showPoints(m_answer->front, m_answer->chosen);
  m_outcome = answerWords(*m_answer);
  const PlanOptions& now = m_context.document.options();
  const auto set = takenSet(*m_answer, now);
  if (set) m_taken = {.with = now, .without = searchedOptions(*m_answer).directives};
  m_plot->setCurrent(set.value_or(kRecommended));
  m_pins.setContent(pinsContent(shownPins()));
}

void TuneDialog::readKept() {
  const std::string file =
      tuneAnswerFile(request(), m_context.document.modelFile().identity(), m_context.controller.engineFolder());
  const auto work = [file](const StopToken&) { return keptTuneAnswer(file); };
  m_context.jobs.run(QStringLiteral("read tune answer"), this, work, [this](const std::optional<TuneAnswer>& kept) {
    if (!kept || working() || m_answer) return;
    const PlanOptions now = request().source.options;
    if (!takenSet(*kept, now) && !sameSearch(searchedOptions(*kept), now)) return;
    showAnswer(*kept);
    renew();
  });
}

bool TuneDialog::shownAreTaken() const {
  return !shownPins().empty() && sameSearch(optionsWith(*m_answer, shownPins()), m_context.document.options());
}

/// Shows the pins of a point of the answer's front, which can then be accepted.
void TuneDialog::choose(int point) {
  if (working() || !m_answer) return;
  m_plot->setCurrent(point);
  m_pins.setContent(pinsContent(shownPins()));
  renew();
}

const TunedPoint& TuneDialog::shownPoint() const {
  const int chosen = m_plot->current();
  return chosen < 0 ? m_answer->chosen : m_answer->front[static_cast<std::size_t>(chosen)];
}

/// Returns the pins of shownPoint(). For the recommended pins, the search has also found out what each of them is for.
const std::vector<TunedPin>& TuneDialog::shownPins() const {
  if (m_plot->current() < 0) return m_answer->pins;
  const std::vector<TunedPin>& set = shownPoint().set;
  const bool recommended = std::ranges::equal(set, m_answer->pins, {}, &TunedPin::node, &TunedPin::node);
  return recommended ? m_answer->pins : set;
}

void TuneDialog::take() {
  if (!m_answer) return;
  PlanOptions options = optionsWith(*m_answer, shownPins());
  if (options.ranges != nullptr) options.ranges = m_context.document.ranges();  // these contain the histograms as well
  assignIds(options.directives);
  m_context.document.edit(QStringLiteral("Tune: %1").arg(pointWords(shownPoint())), std::move(options));
  holdToWhatWasPromised();
  accept();
}

/// A session judges and exports by its tolerance. If the search used a smaller one, it becomes the tolerance of the
/// session.
void TuneDialog::holdToWhatWasPromised() {
  const auto& allowed = m_answer->maxError;
  RunSettings settings = m_context.runs.settings();
  const bool ofOutputs = settings.tune.metric.empty() && settings.tune.output.empty();
  if (!allowed || !ofOutputs || !(shownPoint().error <= *allowed)) return;
  if (settings.tolerance.rms && *settings.tolerance.rms <= *allowed) return;
  settings.tolerance.rms = *allowed;
  m_context.runs.setSettings(settings);
}

}  // namespace fusescope
