#include "ui/document/run_controller.h"

#include <QDir>
#include <QFile>

#include "base/mapped_file.h"
#include "compilers/probed/probed_compiler.h"
#include "engine/kernels/host_machine.h"
#include "session/import_engine.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"
#include "ui/jobs/worker_client.h"

namespace fusescope {

namespace {

constexpr int kActivityMs = 100;

}  // namespace

RunController::RunController(PlanDocument& document, Runs& runs, WorkerClient& worker, JobRunner& jobs, QObject* parent)
    : QObject(parent), m_document(document), m_runs(runs), m_worker(worker), m_jobs(jobs) {
  m_activityTimer.setSingleShot(true);
  m_activityTimer.setInterval(kActivityMs);
  connect(&m_activityTimer, &QTimer::timeout, this, &RunController::activityChanged);
  connect(&m_compilers, &Compilers::changed, this, &RunController::activityChanged);
  connect(&document, &PlanDocument::optionsChanged, this, [this] { m_compilers.ask(m_document.options().compiler); });
  connect(&document, &PlanDocument::planChanged, this, [this] {
    // The compiler that builds for the plan's target is asked now, because its answer may be needed next.
    if (plansOnly())
      if (const std::string builder = builderFor(*m_document.snapshot()->plan); !builder.empty())
        m_compilers.ask(builder);
    if (!m_document.planning() && std::exchange(m_buildsOncePlanned, false)) build();
  });
  connect(&document, &PlanDocument::planFailed, this, [this] { m_buildsOncePlanned = false; });
  connect(&document, &PlanDocument::engineOpened, this,
          [this](Run run) { addRead(std::move(run), m_document.path()); });
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
  if (!m_activityTimer.isActive()) m_activityTimer.start();
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
