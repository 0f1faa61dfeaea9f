#include "ui/dialogs/tune_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/dialogs/inputs_dialog.h"
#include "ui/docks/dock_widgets.h"
#include "ui/document/qt_text.h"
#include "ui/document/shown_time.h"
#include "ui/jobs/worker_client.h"

namespace fusescope {

namespace {

constexpr int kBudgetSeconds = 60, kMostSeconds = 24 * 3600, kClockMs = 250;

/// Types that tuning lowers to, beside f32.
const std::vector<std::vector<DataType>>& loweredChoices() {
  static const std::vector<std::vector<DataType>> kChoices = {
      {DataType::F16}, {DataType::BF16}, {DataType::F16, DataType::BF16}};
  return kChoices;
}

QString costWords(const TunedPoint& point) {
  if (point.ms)
    return timeText({point.how == PriceSource::Measured ? TimeKind::Predicted : TimeKind::Fitted, *point.ms});
  return QStringLiteral("%1, %2 moved").arg(plural(point.casts, QStringLiteral("cast")), bytesText(point.bytes));
}

QString pointWords(const TunedPoint& point) {
  return QStringLiteral("error %1, %2, %3")
      .arg(errorText(point.error), plural(point.pins, QStringLiteral("pin")), costWords(point));
}

TableContent pinsContent(const TuneAnswer* answer) {
  TableContent content{{"Node", "Type", "Error without it", "Why"}, {}, {}};
  if (answer == nullptr) return content;
  for (const TunedPin& pin : answer->pins)
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
      m_worker(worker),
      m_precision(new QComboBox),
      m_output(new QComboBox),
      m_allowed(new QLineEdit),
      m_budget(new QSpinBox),
      m_inputs(new QPushButton),
      m_start(new QPushButton(QStringLiteral("Start"))),
      m_stop(new QPushButton(QStringLiteral("Stop"))),
      m_plot(new TunePlot(context.theme)),
      m_said(new QLabel) {
  setWindowTitle(QStringLiteral("Tune: the few pins that are needed"));
  resize(860, 600);
  m_said->setWordWrap(true);
  m_said->setTextFormat(Qt::PlainText);
  m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_pins.setContent(pinsContent(nullptr));
  auto* pins = new QTableView;
  pins->setModel(&m_pins);
  pins->setItemDelegate(new CellDelegate(context.theme, {1}, pins));
  pins->setAccessibleName(QStringLiteral("Pins"));
  styleTable(*pins, {220, 60, 130, 0}, false);
  auto* upper = new QHBoxLayout;
  upper->addLayout(makeWishes(), 2);
  upper->addWidget(m_plot, 3);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  m_take = buttons->addButton(QStringLiteral("Take these pins"), QDialogButtonBox::ActionRole);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(upper, 3);
  layout->addWidget(m_said);
  layout->addWidget(pins, 2);
  layout->addWidget(buttons);
  for (QPushButton* button : {m_inputs, m_stop, m_take}) button->setAutoDefault(false);
  m_start->setDefault(true);
  m_clock.setInterval(kClockMs);
  connect(&m_clock, &QTimer::timeout, this, &TuneDialog::renew);
  connect(m_take, &QPushButton::clicked, this, &TuneDialog::take);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&context.runs, &Runs::settingsChanged, this, &TuneDialog::renew);
  renew();
}

TuneDialog::~TuneDialog() {
  if (working()) m_worker.cancel(m_request);
}

QLayout* TuneDialog::makeWishes() {
  for (const auto& types : loweredChoices()) {
    QStringList names;
    for (const DataType type : types) names << qs(type);
    m_precision->addItem(names.join(QStringLiteral(", ")));
  }
  const auto& now = m_context.document.options().precisions;
  const auto known = std::ranges::find(loweredChoices(), now);
  if (known != loweredChoices().end()) m_precision->setCurrentIndex(int(known - loweredChoices().begin()));
  m_precision->setAccessibleName(QStringLiteral("Lower to"));
  m_output->addItem(QStringLiteral("the worst of all"), QString());
  const Graph& graph = m_context.document.snapshot()->graph();
  for (const ValueId output : graph.outputs())
    m_output->addItem(qs(graph.value(output).name), qs(graph.value(output).name));
  m_allowed->setText(
      QString::number(m_context.runs.settings().tolerance.rms.value_or(*Tolerance::ofLoweredTypes().rms), 'g', 6));
  m_allowed->setAccessibleName(QStringLiteral("Largest error"));
  m_budget->setRange(0, kMostSeconds);
  m_budget->setSpecialValueText(QStringLiteral("until nothing is left to try"));
  m_budget->setSuffix(QStringLiteral(" s"));
  m_budget->setValue(kBudgetSeconds);
  m_inputs->setToolTip(QStringLiteral("What errors are measured on"));
  auto* form = new QFormLayout;
  form->addRow(QStringLiteral("Lower to"), m_precision);
  form->addRow(QStringLiteral("Largest |Δ| over rms"), m_allowed);
  form->addRow(QStringLiteral("of output"), m_output);
  form->addRow(QStringLiteral("Time to search"), m_budget);
  form->addRow(QStringLiteral("Inputs"), m_inputs);
  auto* row = new QHBoxLayout;
  row->addWidget(m_start);
  row->addWidget(m_stop);
  row->addStretch(1);
  form->addRow(row);
  connect(m_allowed, &QLineEdit::textChanged, this, &TuneDialog::renew);
  connect(m_start, &QPushButton::clicked, this, &TuneDialog::start);
  connect(m_stop, &QPushButton::clicked, this, &TuneDialog::stop);
  connect(m_inputs, &QPushButton::clicked, this, [this] {
    auto* dialog = new InputsDialog(m_context, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
  });
  return form;
}

std::optional<double> TuneDialog::allowedError() const {
  bool number = false;
  const double value = m_allowed->text().trimmed().toDouble(&number);
  return number && value >= 0 ? std::optional(value) : std::nullopt;
}

/// What can be done now, and what is to be said.
void TuneDialog::renew() {
  const SampleSource& inputs = m_context.runs.settings().inputs;
  m_inputs->setText((inputs.empty() ? QStringLiteral("⚠ ") : QString()) + qs(inWords(inputs)) + QStringLiteral("…"));
  for (QWidget* wish : std::initializer_list<QWidget*>{m_precision, m_allowed, m_output, m_budget, m_inputs})
    wish->setEnabled(!working());
  m_start->setEnabled(!working() && allowedError());
  m_stop->setEnabled(working());
  m_take->setEnabled(!working() && m_answer && !m_answer->pins.empty());
  if (working()) {
    QString text = QStringLiteral("%1 s  %2").arg(double(m_elapsed.elapsed()) / 1000, 0, 'f', 1).arg(m_phase);
    if (!m_better.empty()) text += QStringLiteral(" · best so far: ") + pointWords(m_better.back());
    m_said->setText(text);
  } else if (!allowedError()) {
    m_said->setText(QStringLiteral("✗ “%1” is not an error: give a number of 0 or more.").arg(m_allowed->text()));
  } else if (m_said->text().startsWith(QStringLiteral("✗ “"))) {
    m_said->clear();
  }
}

WorkerRequest TuneDialog::request() const {
  WorkerRequest request;
  request.op = WorkerOp::Tune;
  request.source.path = m_context.document.modelFile().path;
  request.source.inputs = m_context.document.inputs();
  request.source.options = m_context.document.options();
  request.source.options.precisions = loweredChoices()[std::size_t(m_precision->currentIndex())];
  request.source.backend = m_context.runs.settings().backend;
  request.inputs = m_context.runs.settings().inputs;
  request.threads = m_context.runs.settings().threads;
  request.tune = {.maxError = allowedError(),
                  .output = m_output->currentData().toString().toStdString(),
                  .seconds = double(m_budget->value())};
  return request;
}

void TuneDialog::start() {
  m_answer.reset();
  m_better.clear();
  m_pins.setContent(pinsContent(nullptr));
  m_plot->setPoints({}, {}, allowedError());
  m_phase = QStringLiteral("starting");
  m_elapsed.start();
  m_clock.start();
  m_request = m_worker.sendDecoded(
      request(), this, tuneAnswerFromJson, [this](const Result<TuneAnswer>& answer) { finished(answer); },
      [this](const QString& phase, const QString& detail) { heard(phase, detail); });
  renew();
}

void TuneDialog::stop() {
  m_worker.finish(m_request);
  m_phase = QStringLiteral("stopping");
  m_stop->setEnabled(false);
}

void TuneDialog::heard(const QString& phase, const QString& detail) {
  if (phase != QLatin1String(kTuneBetterPhase)) {
    m_phase = detail.isEmpty() ? phase : QStringLiteral("%1 · %2").arg(phase, detail);
    return;
  }
  const Json json = Json::parse(detail.toStdString(), nullptr, false);
  const auto points = tunedPointsFromJson(json);
  if (!points.ok()) return;
  m_better = points.value();
  m_plot->setPoints(m_better, {}, allowedError());
}

void TuneDialog::finished(const Result<TuneAnswer>& answer) {
  m_request = 0;
  m_clock.stop();
  if (answer.ok()) {
    m_answer = answer.value();
    showAnswer(*m_answer);
  } else {
    m_said->setText(answer.error().cancelled ? QStringLiteral("Cancelled.")
                                             : QStringLiteral("✗ ") + qs(answer.error().text()));
  }
  renew();
}

void TuneDialog::showAnswer(const TuneAnswer& answer) {
  m_plot->setPoints(answer.front, answer.chosen, allowedError());
  m_pins.setContent(pinsContent(&answer));
  QStringList lines;
  lines << (answer.ok ? QStringLiteral("✓ Found: ") : QStringLiteral("✗ Not reached; the nearest: ")) +
               pointWords(answer.chosen) +
               QStringLiteral(", of %1.")
                   .arg(plural(answer.pinnable, QStringLiteral("node that could be pinned"),
                               QStringLiteral("nodes that could be pinned")));
  if (answer.ok && answer.pins.empty()) lines.last() += QStringLiteral(" No pin is needed.");
  lines << QStringLiteral("Without pins: %1. With all: %2.")
               .arg(pointWords(answer.unpinned), pointWords(answer.allPinned));
  if (answer.ok && !answer.pins.empty())
    lines << (answer.minimal ? QStringLiteral("No single pin can be left out: each was tried.")
                             : QStringLiteral("A pin may be too many: not each was tried."));
  lines << QStringLiteral("%1 on %2, errors by the backend %3, %4 s%5.")
               .arg(plural(answer.evaluations, QStringLiteral("evaluation")),
                    answer.randomInputs ? plural(answer.samples, QStringLiteral("random sample"))
                                        : plural(answer.samples, QStringLiteral("sample")),
                    qs(answer.backend))
               .arg(answer.seconds, 0, 'f', 1)
               .arg(answer.end == "finished" ? QString() : QStringLiteral(", ended by: ") + qs(answer.end));
  if (answer.randomInputs) lines << QStringLiteral("⚠ On random inputs: nobody gave others.");
  m_said->setText(lines.join(QLatin1Char('\n')));
}

void TuneDialog::take() {
  if (!m_answer) return;
  PlanOptions options = m_answer->options;
  assignIds(options.directives);
  m_context.document.edit(QStringLiteral("Tune: %1").arg(pointWords(m_answer->chosen)), std::move(options));
  accept();
}

}  // namespace fusescope
