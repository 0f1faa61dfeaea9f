#include "ui/document/background_builds.h"

#include <QTime>
#include <algorithm>
#include <utility>

#include "base/mapped_file.h"
#include "planning/plan_options_json.h"
#include "session/options_json.h"
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

Result<BackgroundBuilds::OwnBuild> ownBuildOf(const Json& reply) {
  const auto count = [&](const char* key) { return reply.value(key, std::int64_t{0}); };
  if (!reply.is_object() || !reply.contains("taken_over"))
    return Diagnostic{.message = "the worker does not report what it built"};
  return BackgroundBuilds::OwnBuild{.when = {},
                                    .seconds = reply.value("seconds", 0.0),
                                    .regions = count("regions"),
                                    .compiled = count("compiled"),
                                    .measured = count("measured"),
                                    .takenOver = count("taken_over")};
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
    m_keyedPlan.reset();
  });
  connect(&document, &PlanDocument::optionsChanged, this, &BackgroundBuilds::follow);
  connect(&document, &PlanDocument::planChanged, this, &BackgroundBuilds::follow);
  connect(&document, &PlanDocument::planFailed, this, &BackgroundBuilds::follow);
  connect(&runs, &Runs::shownChanged, this, &BackgroundBuilds::follow);
  connect(&runs, &Runs::settingsChanged, this, &BackgroundBuilds::forgetOtherSettings);
  connect(&controller, &RunController::activityChanged, this, &BackgroundBuilds::follow);
}

bool BackgroundBuilds::isOwn() const {
  return m_document.options().compiler == kOwnCompiler;
}

const std::string& BackgroundBuilds::ownKey(const std::shared_ptr<const Plan>& plan) const {
  if (m_keyedPlan != plan) {
    m_keyedPlan = plan;
    m_ownKey = kOwnCompiler + (' ' + toJson(m_document.options()).dump() + toJson(m_document.inputs()).dump());
  }
  return m_ownKey;
}

std::string BackgroundBuilds::key() const {
  const auto snapshot = m_document.snapshot();
  if (!snapshot || m_document.planning() || !m_document.planProblem().isEmpty()) return {};
  return isOwn() ? ownKey(snapshot->plan) : m_document.options().compiler + ' ' + snapshot->plan->hash.hex();
}

const BackgroundBuilds::Built* BackgroundBuilds::known() const {
  const auto found = std::ranges::find(m_built, key(), &Built::of);
  return found == m_built.end() ? nullptr : &*found;
}

SharedOptional<Json> BackgroundBuilds::made() const {
  const Built* built = known();
  return built == nullptr ? SharedOptional<Json>() : built->made;
}

const BackgroundBuilds::OwnBuild* BackgroundBuilds::ownBuild() const {
  const Built* built = known();
  return built == nullptr || !built->own ? nullptr : &*built->own;
}

QString BackgroundBuilds::problem() const {
  const Built* built = known();
  return built == nullptr ? QString() : built->problem;
}

QString BackgroundBuilds::refusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (isOwn() && m_document.planProblem().isEmpty()) return m_controller.compileRefusal();
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
  return newest == runs.rend() ? std::nullopt : std::optional(totalMs(newest->build->phases));
}

bool BackgroundBuilds::isOn() const {
  if (!refusal().isEmpty()) return false;
  return m_chosen.value_or(!isOwn() && lastBuildMs().value_or(0) <= kLongBuildMs);
}

void BackgroundBuilds::choose(std::optional<bool> on) {
  m_chosen = on;
  std::erase_if(m_built, [](const Built& built) { return !built.succeeded(); });  // builds that failed are tried again
  follow();
}

BackgroundBuilds::State BackgroundBuilds::state() const {
  const auto snapshot = m_document.snapshot();
  if (!snapshot || (isOwn() && !refusal().isEmpty())) return State::None;
  if (!m_document.planning() && snapshot->made() != nullptr) return State::Made;
  if (const Built* built = known(); built != nullptr) {
    if (!built->succeeded()) return State::Failed;
    return built->made ? State::Building : isOn() ? State::Made : State::Off;  // if it was made, it is being read now
  }
  if (!isOn()) return State::Off;
  if (m_request != 0) return m_isTiming ? State::Timing : State::Building;
  return isOwn() && !m_document.planning() && shownRunKnows() ? State::None : State::Waiting;
}

/// Removes times that were measured with other inputs, threads or kernels, because they do not apply any more.
void BackgroundBuilds::forgetOtherSettings() {
  const RunSettings& settings = m_runs.settings();
  const auto erased = std::erase_if(m_built, [&](const Built& built) {
    return built.own && !(built.own->inputs == settings.inputs && built.own->threads == settings.threads &&
                          built.own->backend == settings.backend);
  });
  if (erased > 0) follow();
}

/// Returns whether the displayed run is a run of the displayed plan and contains what a build would find out.
bool BackgroundBuilds::shownRunKnows() const {
  const Run* shown = m_runs.shown();
  if (shown == nullptr || !m_runs.ofThisPlan(*shown)) return false;
  return isOwn() ? shown->time.has_value() : shown->made.has_value();
}

bool BackgroundBuilds::wants() const {
  if (key().empty() || known() != nullptr || !isOn() || m_controller.busy()) return false;
  return m_controller.compileRefusal().isEmpty() && !shownRunKnows();
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
  showTime();
  emit changed();
}

void BackgroundBuilds::showTime() {
  const OwnBuild* own = isOn() ? ownBuild() : nullptr;
  if (own == nullptr) {
    // While a new plan is being made, the times still belong to the plan on screen.
    if (!m_document.planning()) m_runs.setBackgroundTime(std::nullopt);
    return;
  }
  Run of{.model = m_document.modelFile().identity(), .options = m_document.options(), .extents = m_document.inputs()};
  of.time = own->time;
  m_runs.setBackgroundTime(Runs::BackgroundTime{std::move(of), QStringLiteral("the background build of ") + own->when});
}

WorkerRequest BackgroundBuilds::requestFor(WorkSettings settings) const {
  WorkerRequest request;
  request.settings = std::move(settings);
  request.source.path = m_document.modelFile().path;
  request.source.inputs = m_document.inputs();
  request.source.options = m_document.options();
  request.source.backend = m_runs.settings().backend;
  request.threads = m_runs.settings().threads;
  return request;
}

void BackgroundBuilds::start() {
  if (!wants()) return;
  m_building = key();
  if (const Status model = checkUnchanged(identitiesOf(m_document.model()->files)); !model.ok()) {
    keep({.of = m_building, .made = {}, .problem = problemText(model.error())});
    return emit changed();
  }
  m_elapsed.start();
  if (isOwn()) return startOwn();
  // Tactics are not measured: they matter only for nodes that fall back, and the question is not about these.
  const WorkerRequest request = requestFor(BuildSettings{.output = {}, .measuresTactics = false});
  const auto number = std::make_shared<std::int64_t>(0);
  *number = m_request = m_worker.sendDecoded(request, this, madeOf, [this, number](auto& made) {
    if (!ended(*number, made)) return;
    if (made.ok()) keep({.of = m_building, .made = std::move(made).value(), .problem = {}});
    follow();
  });
  emit changed();
}

void BackgroundBuilds::startOwn() {
  const auto number = std::make_shared<std::int64_t>(0);
  *number = m_request =
      m_worker.sendDecoded(requestFor(BuildSettings()), this, ownBuildOf, [this, number](auto& built) {
        if (!ended(*number, built)) return;
        built.ok() ? timeOwn(std::move(built).value()) : follow();
      });
  emit changed();
}

void BackgroundBuilds::timeOwn(OwnBuild built) {
  WorkerRequest request =
      requestFor(TimeSettings{.seconds = kTimedSeconds, .warmup = kWarmupSeconds, .perLayer = true});
  request.inputs = m_runs.settings().inputs;
  const auto number = std::make_shared<std::int64_t>(0);
  built.inputs = request.inputs;
  built.threads = request.threads;
  built.backend = request.source.backend;
  const auto decode = [built = std::move(built)](const Json& reply) -> Result<OwnBuild> {
    OwnBuild timed = built;
    RunTime time = TRY(runTimeFromJson(reply));
    time.inputs = timed.inputs;
    timed.time = SharedOptional<RunTime>(std::move(time));
    return timed;
  };
  *number = m_request = m_worker.sendDecoded(request, this, decode, [this, number](auto& timed) {
    if (!ended(*number, timed)) return;
    if (timed.ok()) {
      Built built{.of = m_building, .made = {}, .problem = {}, .own = std::move(timed).value()};
      built.own->when = QTime::currentTime().toString(QStringLiteral("HH:mm:ss"));
      keep(std::move(built));
    }
    follow();
  });
  m_isTiming = true;
  emit changed();
}

/// Returns whether the answer belongs to the current request, which has then ended. A failure is stored.
template <class Answer>
bool BackgroundBuilds::ended(std::int64_t number, const Result<Answer>& answer) {
  if (number != m_request) return false;  // the request was stopped
  m_request = 0;
  m_isTiming = false;
  if (!answer.ok() && answer.error().cancelled) return true;
  m_lastMs = static_cast<double>(m_elapsed.elapsed());
  m_lastCompiler = m_document.options().compiler;
  if (!answer.ok()) keep({.of = m_building, .made = {}, .problem = problemText(answer.error())});
  return true;
}

void BackgroundBuilds::stop() {
  m_settle.stop();
  m_isTiming = false;
  if (const std::int64_t request = std::exchange(m_request, 0); request != 0) m_worker.cancel(request);
}

void BackgroundBuilds::keep(Built built) {
  m_built.push_front(std::move(built));
  if (m_built.size() > kMostKept) m_built.pop_back();
}

}  // namespace fusescope
