#include "ui/document/run_controller.h"

#include <QDir>
#include <QFile>

#include "base/mapped_file.h"
#include "compilers/probed/probed_compiler.h"
#include "engine/kernels/host_machine.h"
#include "engine/program/extent_check.h"
#include "ir/graph.h"
#include "session/exported_program_report.h"
#include "session/import_engine.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/worker_client.h"

namespace fusescope {

namespace {

constexpr int kTellMs = 100;

}  // namespace

RunController::RunController(PlanDocument& document, Runs& runs, WorkerClient& worker, JobRunner& jobs, QObject* parent)
    : QObject(parent), m_document(document), m_runs(runs), m_worker(worker), m_jobs(jobs) {
  m_told.setSingleShot(true);
  m_told.setInterval(kTellMs);
  connect(&m_told, &QTimer::timeout, this, &RunController::activityChanged);
  connect(&m_compilers, &Compilers::changed, this, &RunController::activityChanged);
  connect(&document, &PlanDocument::optionsChanged, this, [this] { m_compilers.ask(m_document.options().compiler); });
  connect(&document, &PlanDocument::planChanged, this, [this] {
    if (!m_document.planning() && std::exchange(m_buildsOncePlanned, false)) build();
  });
  connect(&document, &PlanDocument::planFailed, this, [this] { m_buildsOncePlanned = false; });
  connect(&document, &PlanDocument::engineOpened, this,
          [this](Run run) { addRead(std::move(run), m_document.path()); });
}

QString RunController::whyNot(const PlanOptions& options, Ability ability) const {
  return m_compilers.whyNot(options.compiler, ability);
}

QString RunController::sourceRefusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (m_document.kind() == ArtifactKind::Engine)
    return QStringLiteral("This is an engine: it is timed and compared as it is. Open its model to build another.");
  if (m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not built.");
  return {};
}

QString RunController::compileRefusal() const {
  if (const QString refusal = sourceRefusal(); !refusal.isEmpty()) return refusal;
  if (plansOnly()) {
    return QStringLiteral("%1 is planned for here; engines are built for the target cpu.")
        .arg(qs(m_document.snapshot()->plan->target.name));
  }
  if (m_document.options().compiler == kOwnCompiler && isExportedProgram(*m_document.model()))
    return QStringLiteral(
        "Our engine does not run PyTorch's own operators: torch must first make a network of the program.");
  if (const QString why = whyNot(m_document.options(), Ability::Compile); !why.isEmpty()) return why;
  if (!m_document.planProblem().isEmpty()) return QStringLiteral("There is no plan: %1").arg(m_document.planProblem());
  return {};
}

QString RunController::buildRefusal() const {
  if (const QString refusal = compileRefusal(); !refusal.isEmpty()) return refusal;
  return busy() ? QStringLiteral("The worker is busy; cancel it to build something else.") : QString();
}

bool RunController::plansOnly() const {
  const auto snapshot = m_document.snapshot();
  return snapshot && !m_document.model()->weightless && m_document.options().compiler == kOwnCompiler &&
         snapshot->plan->target.planningOnly;
}

QString RunController::compareRefusal(const Run* a, const Run* b) const {
  if (a == nullptr || b == nullptr) return QStringLiteral("There must be two runs to compare.");
  if (a == b) return QStringLiteral("%1 is the shown run itself: choose another one.").arg(Runs::title(*a));
  for (const Run* run : {a, b}) {
    if (!run->build) return QStringLiteral("%1 has no engine.").arg(Runs::title(*run));
    if (isReadFromFiles(*run))
      return QStringLiteral("%1 was read from files of an engine, which cannot be run here.").arg(Runs::title(*run));
    for (const Ability ability : {Ability::Run, Ability::Time, Ability::Keep})
      if (const QString why = whyNot(run->options, ability); !why.isEmpty()) return why;
    if (!engineIsKept(*run) && !canBeMadeAgain(*run))
      return QStringLiteral("The engine of %1 does not exist any more, and the model that it was made of has changed.")
          .arg(Runs::title(*run));
  }
  if (busy()) return QStringLiteral("The worker is busy.");
  return {};
}

QString RunController::evaluateRefusal() const {
  const Run* run = m_runs.shown();
  if (run == nullptr) return QStringLiteral("There is no run to evaluate.");
  if (Runs::endedWithoutNumbers(*run))
    return QStringLiteral("%1 was not built (%2): build the plan first.")
        .arg(Runs::title(*run), qs(std::string(name(run->state))));
  if (isReadFromFiles(*run))
    return QStringLiteral(
               "%1 was read from files of an engine, which cannot be run here: there is nothing to evaluate.")
        .arg(Runs::title(*run));
  if (run->kind == RunKind::Plan && m_document.snapshot() && m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not run.");
  if (const QString why = whyNot(run->options, Ability::Run); !why.isEmpty()) return why;
  if (!canBeMadeAgain(*run) && !(run->kind == RunKind::Engine && engineIsKept(*run)))
    return QStringLiteral("%1 was made of a model that has changed since.").arg(Runs::title(*run));
  if (busy()) return QStringLiteral("The worker is busy.");
  return {};
}

QString RunController::errorsRefusal() const {
  if (const QString common = tuneRefusal(); !common.isEmpty()) return common;
  if (m_document.options().compiler != kOwnCompiler && m_runs.settings().errorsAgainst == ErrorsAgainst::F64)
    return QStringLiteral(
        "Results of another compiler can only be compared with float32: choose that in the settings.");
  return {};
}

QString RunController::specialiseRefusal() const {
  const Run* run = m_runs.shown();
  if (run == nullptr) return QStringLiteral("There is no run yet: build the plan first.");
  if (run->options.compiler != kOwnCompiler)
    return QStringLiteral("%1 was made by another compiler: only our own builds specialised engines.")
        .arg(Runs::title(*run));
  if (const QString common = evaluateRefusal(); !common.isEmpty()) return common;
  if (m_document.snapshot() && m_runs.ofThisPlan(*run) && !hasOpenInput(m_document.snapshot()->plan->graph()))
    return QStringLiteral("All extents of the inputs are fixed: the engine is already specialised for them.");
  return {};
}

QString RunController::valueRefusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not run.");
  if (!m_document.planProblem().isEmpty()) return QStringLiteral("There is no plan: %1").arg(m_document.planProblem());
  if (m_document.planning()) return QStringLiteral("The plan is being made.");
  for (const Ability ability : {Ability::Run, Ability::InnerValues})
    if (const QString why = whyNot(m_document.options(), ability); !why.isEmpty()) return why;
  return busy() ? QStringLiteral("The worker is busy.") : QString();
}

QString RunController::tuneRefusal() const {
  const QString common = calibrateRefusal();
  return common.isEmpty() ? whyNot(m_document.options(), Ability::Run) : common;
}

/// Searching for culprits switches things off and builds the rest, so that the compiler must be able to compile.
QString RunController::bisectRefusal() const {
  const QString common = tuneRefusal();
  return common.isEmpty() ? compileRefusal() : common;
}

QString RunController::calibrateRefusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (m_document.kind() == ArtifactKind::Engine)
    return QStringLiteral("This is an engine: errors of its layers are measured for its model. Open that.");
  if (m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not run.");
  if (!m_document.planProblem().isEmpty()) return QStringLiteral("There is no plan: %1").arg(m_document.planProblem());
  if (m_document.planning()) return QStringLiteral("The plan is being made.");
  if (busy()) return QStringLiteral("The worker is busy.");
  return {};
}

WorkSource RunController::source(const Run& run) const {
  if (run.kind == RunKind::Engine) return engineSource(run);
  WorkSource source;
  source.path = m_document.modelFile().path;
  source.inputs = run.extents;
  source.options = run.options;
  source.backend = run.backend;
  return source;
}

WorkSource RunController::engineSource(const Run& run) const {
  WorkSource source;
  source.path = run.enginePath;
  return source;
}

WorkSource RunController::timedSource(const Run& run) const {
  return run.enginePath.empty() ? source(run) : engineSource(run);
}

bool RunController::engineIsKept(const Run& run) const {
  return !run.enginePath.empty() && QFile::exists(qs(run.enginePath));
}

Status RunController::checkModel(const Run& run) const {
  if (run.kind != RunKind::Plan) return Done{};
  auto unchanged = checkUnchanged(identitiesOf(m_document.model()->files));
  if (unchanged.ok()) return unchanged;
  auto error = std::move(unchanged).error();
  error.help = "Read the model again (F5): runs are made of the displayed model.";
  return error;
}

bool RunController::canBeMadeAgain(const Run& run) const {
  return run.kind == RunKind::Plan && run.model == m_document.modelFile().identity();
}

Run RunController::newRun() const {
  Run run;
  run.backend = m_runs.settings().backend;
  run.threads = m_runs.settings().threads;
  run.machine = hostMachine();
  run.started = timestamp();
  return run;
}

std::string RunController::addRun(const PlanOptions& options) {
  Run run = newRun();
  run.name = titleOf(options);
  if (options.compiler != kOwnCompiler) run.name = options.compiler + ", " + run.name;
  run.model = m_document.modelFile().identity();
  run.options = options;
  run.extents = m_document.inputs();
  if (const Compiler* compiler = findCompiler(options.compiler))
    if (const auto recorded = recordedJobOf(*compiler)) run.machine = recorded->machine;
  const std::string id = m_runs.add(std::move(run));
  if (!whyNot(options, Ability::Keep).isEmpty()) return id;
  QDir().mkpath(m_engineFolder);
  m_runs.change(id, [&](Run& added) {
    added.enginePath = QDir(m_engineFolder).filePath(QStringLiteral("run-%1.fse").arg(qs(id))).toStdString();
  });
  return id;
}

void RunController::queueRun(const PlanOptions& options, const std::shared_ptr<std::string>& made) {
  m_steps.emplace_back([this, options, made] {
    const std::string id = addRun(options);
    if (made) *made = id;
    // The steps of this run come before those that were queued after it.
    auto later = std::exchange(m_steps, {});
    queueBuild(id);
    queueTime(id);
    m_steps.insert(m_steps.end(), later.begin(), later.end());
  });
}

PlanOptions RunController::exactOptions() const {
  PlanOptions options;
  options.target = m_document.options().target;
  options.compiler = m_document.options().compiler;
  return options;
}

bool RunController::planIsBaseline() const {
  return m_document.options() == exactOptions();
}

const Run* RunController::baseline() const {
  for (const Run& run : m_runs.all()) {
    if (run.state == RunState::Ready && run.backend == m_runs.settings().backend &&
        run.threads == m_runs.settings().threads && engineIsKept(run) &&
        run.madeFrom(m_document.modelFile().identity(), exactOptions(), m_document.inputs()))
      return &run;
  }
  return nullptr;
}

void RunController::build() {
  if (!buildRefusal().isEmpty()) return;
  m_notice.clear();
  queueRun(m_document.options());
  next();
}

QString RunController::buildWithRefusal(const Compiler& compiler) const {
  if (compiler.name() == m_document.options().compiler) return buildRefusal();
  if (const QString refusal = sourceRefusal(); !refusal.isEmpty()) return refusal;
  if (const QString why = m_compilers.whyNot(compiler.name(), Ability::Compile); !why.isEmpty()) return why;
  return busy() ? QStringLiteral("The worker is busy; cancel it to build something else.") : QString();
}

void RunController::buildWith(const Compiler& compiler) {
  m_document.setCompiler(compiler);
  m_buildsOncePlanned = m_document.planning();
  if (!m_buildsOncePlanned) build();
}

void RunController::buildBoth() {
  if (!buildRefusal().isEmpty()) return;
  const bool once = planIsBaseline();
  // The ids of both runs, once they exist.
  const auto a = std::make_shared<std::string>(), b = std::make_shared<std::string>();
  if (const Run* known = baseline()) {
    *a = known->id;
    m_runs.show(known->id);
  } else {
    queueRun(exactOptions(), a);
  }
  if (!once) queueRun(m_document.options(), b);
  m_steps.emplace_back([this, once, a, b] {
    if (!once) {
      // Without an error, the baseline could not be plotted beside the plan.
      if (const Run* run = m_runs.find(*a); run != nullptr && run->evaluations.empty()) queueEvaluation(*a);
      queueEvaluation(*b);
      queueCompare(*a, *b);
    } else if (const Run* run = m_runs.find(*a); run != nullptr && run->evaluations.empty()) {
      queueEvaluation(*a);
    }
  });
  m_notice = once
                 ? QStringLiteral("This plan is the baseline itself: one run is both, and there is nothing to compare.")
                 : QString();
  next();
}

void RunController::evaluate() {
  if (!evaluateRefusal().isEmpty()) return;
  m_notice.clear();
  queueEvaluation(m_runs.shown()->id);
  next();
}

void RunController::evaluateErrors() {
  if (!errorsRefusal().isEmpty()) return;
  m_notice.clear();
  const Run* shown = m_runs.shown();
  // Our emulation of the plan is measured, never an engine that was read from files.
  const bool known =
      shown != nullptr && m_runs.ofThisPlan(*shown) && !Runs::endedWithoutNumbers(*shown) && !isReadFromFiles(*shown);
  queueErrors(known ? shown->id : addRun(m_document.options()));
  next();
}

void RunController::specialise() {
  if (!specialiseRefusal().isEmpty()) return;
  m_notice.clear();
  queueSpecialise(m_runs.shown()->id);
  next();
}

void RunController::fetchValue(const std::string& value, std::int64_t sample) {
  if (!valueRefusal().isEmpty()) return;
  m_notice.clear();
  queueValue(value, sample);
  next();
}

void RunController::compare() {
  if (!compareRefusal().isEmpty()) return;
  m_notice.clear();
  const Run *a = m_runs.comparedWith(), *b = m_runs.shown();
  for (const Run* run : {a, b})
    if (!engineIsKept(*run)) queueBuild(run->id);
  queueCompare(a->id, b->id);
  next();
}

void RunController::next() {
  if (m_request == 0 && !m_steps.empty() && m_before != nullptr && m_before->busy()) {
    m_what = QStringLiteral("waiting for the background build to end");
    emit activityChanged();
    QTimer::singleShot(kWaitMs, this, &RunController::next);
    return;
  }
  while (m_request == 0 && !m_steps.empty()) {
    const auto step = std::move(m_steps.front());
    m_steps.pop_front();
    step();
  }
  if (busy()) return;
  endUnfinished();
  m_elapsed.invalidate();
  m_what.clear();
  emit activityChanged();
}

void RunController::sent(const QString& what, std::int64_t request) {
  m_request = request;
  m_what = what;
  m_phase.clear();
  m_detail.clear();
  m_problem.clear();
  m_elapsed.start();
  emit activityChanged();
}

void RunController::heard(const std::string& id, const QString& phase, const QString& detail) {
  if (phase != m_phase) log(id, phase);
  m_phase = phase;
  m_detail = detail;
  if (!m_told.isActive()) m_told.start();
}

void RunController::failed(const std::string& id, const Diagnostic& error) {
  m_steps.clear();
  const QString words = error.cancelled ? QStringLiteral("Cancelled; nothing was lost.") : problemText(error);
  if (!error.cancelled) m_problem = words;
  if (id.empty()) return;
  m_runs.change(id, [&](Run& run) {
    // The run keeps its results: a failed evaluation does not remove its time.
    run.state = Runs::hasNumbers(run) ? RunState::Ready : error.cancelled ? RunState::Cancelled : RunState::Failed;
    run.problem = words.toStdString();
  });
  log(id, words);
  m_runs.undoDisplay(id);
}

void RunController::cancel() {
  m_buildsOncePlanned = false;
  const bool isWaiting = m_request == 0 && !m_steps.empty();
  m_steps.clear();
  if (m_request != 0) m_worker.cancel(m_request);
  if (isWaiting) endUnfinished();
  emit activityChanged();
}

/// Cancels the runs that have steps left which nobody will make: they waited for the other worker, or the answer to an
/// earlier step came when the request had already been cancelled.
void RunController::endUnfinished() {
  std::vector<std::string> unfinished;
  for (const Run& run : m_runs.all())
    if (run.working()) unfinished.push_back(run.id);
  for (const std::string& id : unfinished) failed(id, Diagnostic::cancellation());
}

void RunController::forget() {
  cancel();
  m_notice.clear();
  m_problem.clear();
  ++m_session;
}

QString RunController::activity() const {
  if (!busy()) return {};
  QString text = m_what;
  if (!m_phase.isEmpty()) text += QStringLiteral(": ") + m_phase;
  if (!m_detail.isEmpty()) text += QStringLiteral(" · ") + m_detail;
  return text;
}

void RunController::log(const std::string& id, const QString& line) {
  m_runs.change(id, [&](Run& run) {
    if (run.log.size() < Run::kMostLogLines) run.log.push_back(line.toStdString());
  });
}

}  // namespace fusescope
