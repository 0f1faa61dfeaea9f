#include "ui/document/background_builds.h"

#include <algorithm>
#include <utility>

#include "base/mapped_file.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/worker_client.h"

namespace fusescope {

namespace {

Result<SharedOptional<Json>> madeOf(const Json& reply) {
  if (reply.is_object() && reply.contains("made") && reply["made"].is_object())
    return SharedOptional<Json>(reply["made"]);
  return Diagnostic{.message = "the compiler does not report what it made of the network"};
}

double totalMs(const RunBuild& build) {
  double ms = 0;
  for (const BuildPhase& phase : build.phases) ms += phase.ms;
  return ms;
}

}  // namespace

BackgroundBuilds::BackgroundBuilds(PlanDocument& document, Runs& runs, const RunController& controller,
                                   WorkerClient& worker, QObject* parent)
    : QObject(parent), m_document(document), m_runs(runs), m_controller(controller), m_worker(worker) {
  m_settle.setSingleShot(true);
  m_settle.setInterval(kSettleMs);
  connect(&m_settle, &QTimer::timeout, this, &BackgroundBuilds::start);
  connect(&document, &PlanDocument::modelChanged, this, [this] {
    stop();
    m_built.clear();
    m_lastMs.reset();
  });
  connect(&document, &PlanDocument::optionsChanged, this, &BackgroundBuilds::follow);
  connect(&document, &PlanDocument::planChanged, this, &BackgroundBuilds::follow);
  connect(&document, &PlanDocument::planFailed, this, &BackgroundBuilds::follow);
  connect(&runs, &Runs::shownChanged, this, &BackgroundBuilds::follow);
  connect(&controller, &RunController::activityChanged, this, &BackgroundBuilds::follow);
}

std::string BackgroundBuilds::key() const {
  const auto snapshot = m_document.snapshot();
  const std::string& compiler = m_document.options().compiler;
  if (!snapshot || m_document.planning() || !m_document.planProblem().isEmpty() || compiler == kOwnCompiler) return {};
  return compiler + ' ' + snapshot->plan->hash.hex();
}

const BackgroundBuilds::Built* BackgroundBuilds::known() const {
  const auto found = std::ranges::find(m_built, key(), &Built::of);
  return found == m_built.end() ? nullptr : &*found;
}

SharedOptional<Json> BackgroundBuilds::made() const {
  const Built* built = known();
  return built == nullptr ? SharedOptional<Json>() : built->made;
}

QString BackgroundBuilds::problem() const {
  const Built* built = known();
  return built == nullptr ? QString() : built->problem;
}

QString BackgroundBuilds::refusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (m_document.options().compiler == kOwnCompiler)
    return QStringLiteral("Our own compiler makes what the plan says. Choose another one: Build, Build with.");
  return {};
}

std::optional<double> BackgroundBuilds::lastBuildMs() const {
  const std::string& compiler = m_document.options().compiler;
  if (m_lastMs && m_lastCompiler == compiler) return m_lastMs;
  const std::string model = m_document.modelFile().identity();
  const auto& runs = m_runs.all();
  const auto newest = std::find_if(runs.rbegin(), runs.rend(), [&](const Run& run) {
    return run.build && run.options.compiler == compiler && run.model == model;
  });
  return newest == runs.rend() ? std::nullopt : std::optional(totalMs(*newest->build));
}

bool BackgroundBuilds::isOn() const {
  return refusal().isEmpty() && m_chosen.value_or(lastBuildMs().value_or(0) <= kLongBuildMs);
}

void BackgroundBuilds::choose(std::optional<bool> on) {
  m_chosen = on;
  std::erase_if(m_built, [](const Built& built) { return !built.made; });  // what failed is tried again
  follow();
}

BackgroundBuilds::State BackgroundBuilds::state() const {
  const auto snapshot = m_document.snapshot();
  if (!snapshot || m_document.options().compiler == kOwnCompiler) return State::None;
  if (!m_document.planning() && snapshot->made() != nullptr) return State::Made;
  if (const Built* built = known(); built != nullptr) return built->made ? State::Building : State::Failed;
  if (!isOn()) return State::Off;
  return m_request != 0 ? State::Building : State::Waiting;
}

bool BackgroundBuilds::wants() const {
  if (key().empty() || known() != nullptr || !isOn() || m_controller.busy()) return false;
  if (!m_controller.compileRefusal().isEmpty()) return false;
  const Run* shown = m_runs.shown();
  return shown == nullptr || !shown->made || !m_runs.ofThisPlan(*shown);
}

void BackgroundBuilds::follow() {
  const bool wanted = wants();
  if (m_request != 0 && (!wanted || m_building != key())) stop();
  if (!wanted) {
    m_settle.stop();
  } else if (m_request == 0 && (!m_settle.isActive() || m_building != key())) {
    m_building = key();
    m_settle.start();
  }
  emit changed();
}

void BackgroundBuilds::start() {
  if (!wants()) return;
  WorkerRequest request;
  request.settings =
      BuildSettings{.output = {}, .measuresTactics = false};  // what falls back is not what is asked about
  request.source.path = m_document.modelFile().path;
  request.source.inputs = m_document.inputs();
  request.source.options = m_document.options();
  request.source.backend = m_runs.settings().backend;
  request.threads = m_runs.settings().threads;
  m_building = key();
  if (const Status model = checkUnchanged(identitiesOf(m_document.model()->files)); !model.ok()) {
    keep({.of = m_building, .made = {}, .problem = problemText(model.error())});
    return emit changed();
  }
  m_elapsed.start();
  const auto number = std::make_shared<std::int64_t>(0);
  *number = m_request = m_worker.sendDecoded(request, this, madeOf, [this, number](auto& made) {
    if (*number != m_request) return;  // it was stopped
    m_request = 0;
    if (made.ok() || !made.error().cancelled) {
      m_lastMs = static_cast<double>(m_elapsed.elapsed());
      m_lastCompiler = m_document.options().compiler;
      keep({.of = m_building,
            .made = made.ok() ? std::move(made).value() : SharedOptional<Json>(),
            .problem = made.ok() ? QString() : problemText(made.error())});
    }
    follow();
  });
  emit changed();
}

void BackgroundBuilds::stop() {
  m_settle.stop();
  if (const std::int64_t request = std::exchange(m_request, 0); request != 0) m_worker.cancel(request);
}

void BackgroundBuilds::keep(Built built) {
  m_built.push_front(std::move(built));
  if (m_built.size() > kMostKept) m_built.pop_back();
}

}  // namespace fusescope
