#include "ui/document/build_controller.h"

#include "planning/fused_node_facts.h"
#include "ui/document/layer_times.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/worker_client.h"

namespace fusescope {

namespace {

using State = EngineSlot::State;

QString letter(int index) {
  return index == BuildController::kA ? QStringLiteral("A") : QStringLiteral("B");
}

}  // namespace

BuildController::BuildController(PlanDocument& document, WorkerClient& worker, QObject* parent)
    : QObject(parent), m_document(document), m_worker(worker) {
  connect(&document, &PlanDocument::modelChanged, this, &BuildController::reset);
}

QString BuildController::optionsTitle(const PlanOptions& options) {
  QStringList parts;
  QStringList types;
  for (const DataType type : options.precisions) types << qs(type);
  if (!types.isEmpty()) parts << QStringLiteral("precision ") + types.join(QLatin1Char(','));
  std::int64_t pins = 0;
  for (const Directive& directive : options.directives) pins += asksForAType(directive);
  if (pins > 0) parts << plural(pins, QStringLiteral("pin"));
  const auto others = static_cast<std::int64_t>(options.directives.size()) - pins;
  if (others == 1) {
    for (const Directive& directive : options.directives)
      if (!asksForAType(directive)) parts << qs(inWords(directive));
  } else if (others > 1) {
    parts << plural(others, QStringLiteral("other directive"));
  }
  return parts.isEmpty() ? QStringLiteral("baseline") : parts.join(QStringLiteral(", "));
}

QString BuildController::slotTitle(int index) const {
  const EngineSlot& engine = slot(index);
  return engine.title.isEmpty() ? letter(index) : QStringLiteral("%1: %2").arg(letter(index), engine.title);
}

QString BuildController::buildRefusal() const {
  const auto snapshot = m_document.snapshot();
  if (!snapshot) return QStringLiteral("Open a model first.");
  if (m_document.model()->weightless) {
    return QStringLiteral("This file has no weights: it can be looked at and planned, not built.");
  }
  if (snapshot->plan->target.planningOnly) {
    return QStringLiteral("%1 is planned for here; engines are built for the target cpu.")
        .arg(qs(snapshot->plan->target.name));
  }
  if (busy()) return QStringLiteral("The worker is busy; cancel it to build something else.");
  return {};
}

QString BuildController::compareRefusal() const {
  if (slot(kA).enginePath.isEmpty() || slot(kB).enginePath.isEmpty()) return QStringLiteral("Build both to compare.");
  if (busy()) return QStringLiteral("The worker is busy.");
  return {};
}

WorkSource BuildController::source(const PlanOptions& options) const {
  WorkSource source;
  source.path = m_document.path().toStdString();
  source.inputs = m_document.inputs();
  source.options = options;
  source.backend = settings.backend.toStdString();
  return source;
}

void BuildController::send(const WorkerRequest& request, std::function<void(const Result<Json>&)> reply,
                           std::function<void(const QString&, const QString&)> progress) {
  const int generation = m_generation;
  m_request = m_worker.send(
      request, this,
      [this, generation, reply = std::move(reply)](const Result<Json>& answer) {
        m_request = 0;
        if (generation == m_generation) {
          reply(answer);
        } else {
          finish();
        }
      },
      [this, generation, progress = std::move(progress)](const QString& phase, const QString& detail) {
        if (generation == m_generation) progress(phase, detail);
      });
}

void BuildController::logPhase(const QString& phase, const QString& detail) {
  emit logged(detail.isEmpty() ? phase : QStringLiteral("%1: %2").arg(phase, detail));
}

void BuildController::build(int index, const PlanOptions& options) {
  if (!buildRefusal().isEmpty()) return;
  EngineSlot& engine = m_slots[static_cast<std::size_t>(index)];
  m_before[static_cast<std::size_t>(index)] = engine.phases;
  engine = EngineSlot();
  engine.state = State::Building;
  engine.options = options;
  engine.title = optionsTitle(options);
  m_comparison = Json();
  m_comparisonProblem.clear();
  WorkerRequest request;
  request.op = WorkerOp::Build;
  request.source = source(options);
  request.enginePath = m_folder.filePath(QStringLiteral("engine-%1.fse").arg(++m_serial)).toStdString();
  request.threads = settings.threads;
  engine.enginePath = qs(request.enginePath);
  m_elapsed.start();
  emit logged(QStringLiteral("Building %1").arg(slotTitle(index)));
  send(
      request, [this, index](const Result<Json>& reply) { built(index, reply); },
      [this, index](const QString& phase, const QString& detail) { beginPhase(index, phase, detail); });
  emit activityChanged();
  emit slotChanged(index);
  emit comparisonChanged();
}

void BuildController::buildBoth() {
  if (!buildRefusal().isEmpty()) return;
  m_thenB = m_thenCompare = true;
  PlanOptions baseline;
  baseline.target = m_document.options().target;
  build(kA, baseline);
}

void BuildController::beginPhase(int index, const QString& phase, const QString& detail) {
  EngineSlot& engine = m_slots[static_cast<std::size_t>(index)];
  logPhase(phase, detail);
  if (!engine.phases.empty() && engine.phases.back().name == phase) {
    engine.phases.back().detail = detail;
  } else {
    endPhases(index);
    EngineSlot::Phase begun{phase, detail, 0, {}};
    for (const EngineSlot::Phase& old : m_before[static_cast<std::size_t>(index)]) {
      if (old.name == phase) begun.lastMs = old.ms;
    }
    engine.phases.push_back(begun);
    m_phaseClock.start();
  }
  emit slotChanged(index);
}

void BuildController::endPhases(int index) {
  EngineSlot& engine = m_slots[static_cast<std::size_t>(index)];
  if (!engine.phases.empty() && m_phaseClock.isValid()) {
    engine.phases.back().ms = static_cast<double>(m_phaseClock.nsecsElapsed()) / 1e6;
  }
}

void BuildController::built(int index, const Result<Json>& reply) {
  endPhases(index);
  EngineSlot& engine = m_slots[static_cast<std::size_t>(index)];
  if (!reply.ok()) {
    failed(index, reply.error());
    return;
  }
  engine.build = reply.value();
  engine.state = State::Timing;
  WorkerRequest request;
  request.op = WorkerOp::Time;
  request.source.path = engine.enginePath.toStdString();
  request.seconds = settings.seconds;
  request.warmupSeconds = 0.2;
  request.perLayer = true;
  request.threads = settings.threads;
  send(
      request, [this, index](const Result<Json>& answer) { timed(index, answer); },
      [this, index](const QString& phase, const QString& detail) { beginPhase(index, phase, detail); });
  emit logged(QStringLiteral("Built %1: %2 regions, %3 of them distinct")
                  .arg(slotTitle(index))
                  .arg(engine.build.value("regions", std::int64_t{0}))
                  .arg(engine.build.value("distinct", std::int64_t{0})));
  emit slotChanged(index);
}

void BuildController::timed(int index, const Result<Json>& reply) {
  endPhases(index);
  EngineSlot& engine = m_slots[static_cast<std::size_t>(index)];
  if (!reply.ok()) {
    failed(index, reply.error());
    return;
  }
  engine.time = reply.value();
  engine.state = State::Ready;
  emit logged(QStringLiteral("%1 is ready").arg(slotTitle(index)));
  emit slotChanged(index);
  if (std::exchange(m_thenB, false)) {
    build(kB);
  } else if (std::exchange(m_thenCompare, false)) {
    compare();
  }
  if (!busy()) finish();
}

void BuildController::failed(int index, const Diagnostic& error) {
  m_thenB = m_thenCompare = false;
  EngineSlot& engine = m_slots[static_cast<std::size_t>(index)];
  engine.state = error.cancelled ? State::Cancelled : State::Failed;
  engine.problem = error.cancelled ? QStringLiteral("Cancelled; nothing was lost.") : qs(error.text());
  if (engine.build.is_null()) engine.enginePath.clear();
  emit logged(QStringLiteral("%1: %2").arg(slotTitle(index), engine.problem));
  emit slotChanged(index);
  finish();
}

void BuildController::compare() {
  if (!compareRefusal().isEmpty()) return;
  WorkerRequest request;
  request.op = WorkerOp::Compare;
  request.source.path = slot(kA).enginePath.toStdString();
  request.other.path = slot(kB).enginePath.toStdString();
  request.seconds = settings.seconds;
  request.threads = settings.threads;
  m_elapsed.start();
  emit logged(QStringLiteral("Comparing %1 with %2").arg(slotTitle(kA), slotTitle(kB)));
  const auto reply = [this](const Result<Json>& answer) {
    m_comparison = answer.ok() ? answer.value() : Json();
    m_comparisonProblem = answer.ok() ? QString() : qs(answer.error().text());
    emit logged(answer.ok() ? QStringLiteral("Compared") : m_comparisonProblem);
    finish();
    emit comparisonChanged();
  };
  send(request, reply, [this](const QString& phase, const QString& detail) { logPhase(phase, detail); });
  emit activityChanged();
}

void BuildController::measureErrors(int index) {
  if (busy() || slot(index).build.is_null()) return;
  WorkerRequest request;
  request.op = WorkerOp::MeasureError;
  request.source = source(slot(index).options);
  m_elapsed.start();
  emit logged(QStringLiteral("Measuring the errors of %1 against float32").arg(slotTitle(index)));
  const auto reply = [this, index](const Result<Json>& answer) {
    if (answer.ok()) m_slots[static_cast<std::size_t>(index)].errors = answer.value();
    emit logged(answer.ok() ? QStringLiteral("Errors measured") : qs(answer.error().text()));
    finish();
    emit slotChanged(index);
  };
  send(request, reply, [this](const QString& phase, const QString& detail) { logPhase(phase, detail); });
  emit activityChanged();
}

void BuildController::cancel() {
  if (!busy()) return;
  m_thenB = m_thenCompare = false;
  emit logged(QStringLiteral("Cancelling …"));
  m_worker.cancel(m_request);
}

void BuildController::finish() {
  m_elapsed.invalidate();
  emit activityChanged();
}

void BuildController::reset() {
  cancel();
  ++m_generation;
  for (const int index : {kA, kB}) {
    m_slots[static_cast<std::size_t>(index)] = EngineSlot();
    m_before[static_cast<std::size_t>(index)].clear();
    emit slotChanged(index);
  }
  m_comparison = Json();
  m_comparisonProblem.clear();
  emit comparisonChanged();
}

std::map<std::string, double> BuildController::layerTimes(int index) const {
  const auto snapshot = m_document.snapshot();
  return snapshot ? layerTimesOf(slot(index).time, *snapshot) : std::map<std::string, double>();
}

}  // namespace fusescope
