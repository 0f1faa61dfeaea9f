#include "ui/document/runs.h"

#include <algorithm>
#include <utility>

#include "ir/graph.h"
#include "session/inputs/sample_source.h"
#include "session/runs/run_comparison.h"
#include "ui/document/layer_times.h"
#include "ui/document/qt_text.h"
#include "ui/document/shown_layer_errors.h"
#include "ui/jobs/discard.h"

namespace fusescope {

namespace {

/// Returns the tolerance for errors of layers, which is a bound of max|Δ| over rms.
Tolerance boundOf(const Tolerance& tolerance) {
  return tolerance.rms ? tolerance : Tolerance::ofLoweredTypes();
}

/// Returns how well errors fit the settings: their inputs count more than what they were compared with.
int fitOf(const RunErrors& errors, const RunSettings& settings) {
  return 2 * (errors.inputs == settings.inputs) + (errors.against == name(settings.errorsAgainst));
}

/// Returns a text such as "8 samples" or "1 random sample".
QString samplesOf(const RunErrors& errors) {
  return plural(errors.samples, errors.inputs.empty() ? QStringLiteral("random sample") : QStringLiteral("sample"));
}

}  // namespace

Runs::Runs(PlanDocument& document, QObject* parent) : QObject(parent), m_document(document) {
  connect(&document, &PlanDocument::modelChanged, this, &Runs::letPlansGo);
}

/// Threads that are still making plans keep the plans that they were given.
void Runs::letPlansGo() {
  m_plans = newPlans();
}

/// When the last reference is released, the plans are destroyed in another thread.
std::shared_ptr<RunPlans> Runs::newPlans() {
  return {new RunPlans, [](RunPlans* gone) { discard(std::shared_ptr<RunPlans>(gone)); }};
}

OpenNetwork Runs::network() const {
  const auto snapshot = m_document.snapshot();
  return {.model = m_document.model(),
          .file = m_document.modelFile(),
          .extents = m_document.inputs(),
          .plan = snapshot == nullptr ? nullptr : snapshot->plan};
}

const Run* Runs::find(const std::string& id) const {
  const auto found = std::ranges::find(m_runs, id, &Run::id);
  return found == m_runs.end() ? nullptr : &*found;
}

const Run* Runs::comparison() const {
  const auto isShown = [this](const Run& run) {
    return run.comparison && run.state == RunState::Ready && run.comparison->a == m_comparedWith &&
           run.comparison->b == m_shown;
  };
  if (const Run* chosen = find(m_comparison); chosen != nullptr && isShown(*chosen)) return chosen;
  const auto newest = std::find_if(m_runs.rbegin(), m_runs.rend(), isShown);
  return newest == m_runs.rend() ? nullptr : &*newest;
}

std::optional<Runs::InTurns> Runs::inTurns(const std::string& a, const std::string& b) const {
  const auto read = [&](const Run& run) -> std::optional<InTurns> {
    if (!run.comparison || run.state != RunState::Ready) return std::nullopt;
    const RunComparison& made = *run.comparison;
    if (!made.aMs || !made.bMs || *made.aMs <= 0 || *made.bMs <= 0 || !made.ratioRange) return std::nullopt;
    const double ratio = *made.bMs / *made.aMs;
    if (made.a == a && made.b == b) return InTurns{ratio, *made.ratioRange, made.turns};
    const Range& range = *made.ratioRange;
    if (made.a != b || made.b != a || range.least <= 0) return std::nullopt;
    return InTurns{1 / ratio, {1 / range.most, 1 / range.least}, made.turns};
  };
  if (const Run* chosen = comparison())
    if (const auto found = read(*chosen)) return found;
  for (auto run = m_runs.rbegin(); run != m_runs.rend(); ++run)
    if (const auto found = read(*run)) return found;
  return std::nullopt;
}

bool Runs::ofThisPlan(const Run& run) const {
  return run.madeFrom(m_document.modelFile().identity(), m_document.options(), m_document.inputs());
}

const Run* Runs::newestOfThisPlan() const {
  const auto fits = [this](const Run& run) { return !run.working() && !endedWithoutNumbers(run) && ofThisPlan(run); };
  const auto newest = std::find_if(m_runs.rbegin(), m_runs.rend(), fits);
  return newest == m_runs.rend() ? nullptr : &*newest;
}

const Runs::BackgroundTime* Runs::backgroundTime() const {
  if (!m_background || !m_document.snapshot() || !ofThisPlan(m_background->of)) return nullptr;
  const Run* run = shown();
  return run != nullptr && run->time && ofThisPlan(*run) ? nullptr : &*m_background;
}

void Runs::setBackgroundTime(std::optional<BackgroundTime> time) {
  const bool isSame =
      time.has_value() == m_background.has_value() &&
      (!time || (time->of.time.isSameObject(m_background->of.time) && time->made == m_background->made));
  if (isSame) return;
  m_background = std::move(time);
  emit shownChanged();
}

ShownTimes Runs::layerTimes() const {
  const BackgroundTime* background = backgroundTime();
  const Run* run = background != nullptr ? &background->of : shown();
  KnownTimes wanted{.plan = m_document.snapshot()};
  if (run != nullptr && run->time && wanted.plan) {
    wanted.of = run->time;
    wanted.measured = ofThisPlan(*run) ? TimeKind::Measured : TimeKind::OfOtherPlan;
  }
  const bool known = wanted.of.isSameObject(m_known.of) &&
                     (!wanted.of || (wanted.plan == m_known.plan && wanted.measured == m_known.measured));
  if (!known) {
    if (wanted.of) wanted.times = layerTimesOf(*std::as_const(wanted.of), *wanted.plan, wanted.measured);
    m_known = std::move(wanted);
  }
  ShownTimes times = m_known.times;
  if (!m_known.of) return times;
  times.made = background != nullptr ? background->made : title(*run);
  times.madeBriefly =
      background != nullptr ? QStringLiteral("background build") : QStringLiteral("run %1").arg(qs(run->id));
  return times;
}

Runs::MeasuredErrors Runs::errorsOf(const Run& run) const {
  MeasuredErrors best;
  int fit = -1;
  const auto consider = [&](const Run& one) {
    const RunErrors* chosen = errorsFor(one, m_settings);
    if (chosen == nullptr || fitOf(*chosen, m_settings) <= fit) return;
    fit = fitOf(*chosen, m_settings);
    const auto isChosen = [&](const SharedOptional<RunErrors>& errors) { return &*errors == chosen; };
    best = {&one, *std::ranges::find_if(one.errors, isChosen)};
  };
  consider(run);
  for (auto other = m_runs.rbegin(); other != m_runs.rend(); ++other)
    if (!other->errors.empty() && other->id != run.id && other->madeFrom(run.model, run.options, run.extents))
      consider(*other);
  return best;
}

const Runs::Judged& Runs::judged(const SharedOptional<RunErrors>& errors) const {
  const PlanSnapshot& snapshot = *m_document.snapshot();
  const Tolerance tolerance = boundOf(m_settings.tolerance);
  if (m_judged.model != snapshot.cover->model || !(m_judged.tolerance == tolerance))
    m_judged = {.model = snapshot.cover->model, .tolerance = tolerance};
  for (const Judged& known : m_judged.all)
    if (known.of.isSameObject(errors)) return known;
  const std::vector<TensorErrors>& tensors = errors->tensors;
  Judged judged{.of = errors, .leading = leadingToOutputs(tensors, snapshot.graph(), tolerance), .first = {}};
  const auto first = firstWrongOf(tensors, judged.leading, tolerance);
  if (first && judged.leading.contains(first->tensor)) {
    const auto tensor = std::ranges::find(tensors, first->tensor, &TensorErrors::name);
    const auto& error = first->isLocal ? tensor->errors.local : tensor->errors.carried;
    judged.notFinite = error && error->nonFinite > 0;
    judged.first = first;
  }
  m_judged.all.push_back(std::move(judged));
  return m_judged.all.back();
}

const Runs::Judged* Runs::judgedByLayers(const Run& run) const {
  const MeasuredErrors layers = errorsOf(run);
  if (!layers.errors || !m_document.snapshot() || run.model != m_document.modelFile().identity()) return nullptr;
  const Evaluation* other = evaluation(run);
  const SampleSource& inputs = layers.errors->inputs;
  const bool isOfTheseInputs = other == nullptr || inputs == other->inputs || inputs == m_settings.inputs;
  return isOfTheseInputs ? &judged(layers.errors) : nullptr;
}

const Runs::KnownErrors& Runs::knownErrors() const {
  const Run* run = shown();
  KnownErrors wanted{.plan = m_document.snapshot(), .tolerance = boundOf(m_settings.tolerance)};
  if (run != nullptr && wanted.plan) {
    wanted.of = errorsOf(*run).errors;
    wanted.ofThisPlan = ofThisPlan(*run);
  }
  if (wanted.sameAs(m_knownErrors)) return m_knownErrors;
  if (wanted.of)
    wanted.errors = layerErrorsOf(*std::as_const(wanted.of), *wanted.plan,
                                  wanted.ofThisPlan ? &judged(wanted.of).leading : nullptr);
  return m_knownErrors = std::move(wanted);
}

ShownErrors Runs::layerErrors() const {
  const KnownErrors& known = knownErrors();
  ShownErrors shown{.of = known.errors, .bound = *known.tolerance.rms};
  if (!known.of) return shown;
  const Run* run = errorsOf(*this->shown()).run;
  const RunErrors& errors = *std::as_const(known.of);
  shown.random = errors.inputs.empty();
  shown.against = qs(errors.against);
  shown.made = QStringLiteral("%1, on %2").arg(title(*run), samplesOf(errors));
  if (!shown.random) shown.made += QStringLiteral(" of ") + qs(inWords(errors.inputs));
  shown.madeBriefly = QStringLiteral("run %1, on %2").arg(qs(run->id), samplesOf(errors));
  if (errors.against != name(RunSettings().errorsAgainst)) {
    shown.made += QStringLiteral(", against ") + shown.against;
    shown.madeBriefly += QStringLiteral(", against ") + shown.against;
  }
  return shown;
}

Verdict Runs::verdict(const Run& run) const {
  Verdict verdict = verdictOf(run, m_settings);
  const Judged* layers = verdict.kind == Verdict::Kind::Fail ? judgedByLayers(run) : nullptr;
  if (layers == nullptr || !layers->first || layers->of->inputs != evaluation(run)->inputs) return verdict;
  verdict.firstWrong = layers->first->tensor;
  verdict.firstNotFinite = layers->notFinite;
  return verdict;
}

std::optional<FirstWrong> Runs::firstWrong() const {
  const Run* run = shown();
  const Judged* layers = run != nullptr && ofThisPlan(*run) ? judgedByLayers(*run) : nullptr;
  return layers == nullptr ? std::nullopt : layers->first;
}

std::optional<Runs::Failure> Runs::failure() const {
  const Run* run = shown();
  const auto snapshot = m_document.snapshot();
  if (run == nullptr || !snapshot || !ofThisPlan(*run)) return {};
  Failure failure;
  if (const Judged* layers = judgedByLayers(*run); layers != nullptr && layers->first) {
    failure.value = layers->first->tensor;
    failure.notFinite = layers->notFinite;
    failure.why = layers->first->why;
    failure.advice = layers->of->advice;
  } else {
    const Verdict own = verdict(*run);
    if (own.kind != Verdict::Kind::Fail) return {};
    failure.value = own.firstWrong;
    failure.notFinite = own.firstNotFinite;
    failure.advice = evaluation(*run)->advice;
  }
  const auto value = snapshot->graph().findValue(failure.value);
  if (value) failure.node = snapshot->graph().value(*value).producer;
  if (failure.node.valid()) failure.name = snapshot->graph().node(failure.node).name;
  return failure;
}

QString Runs::whyVerdictsDiffer(const Run& run) const {
  const Evaluation* evaluated = evaluation(run);
  const MeasuredErrors layers = errorsOf(run);
  if (evaluated == nullptr || !layers.errors || !m_document.snapshot()) return {};
  if (run.model != m_document.modelFile().identity()) return {};
  const Verdict own = verdictOf(*evaluated, m_settings.tolerance);
  const auto& first = judged(layers.errors).first;
  const bool sameInputs = layers.errors->inputs == evaluated->inputs, fails = own.kind == Verdict::Kind::Fail;
  const bool agree =
      sameInputs ? fails == first.has_value() : own.firstWrong == (first ? first->tensor : std::string());
  if (own.kind == Verdict::Kind::Unknown || agree) return {};
  const QString what = first ? QStringLiteral("%1 goes wrong first").arg(qs(first->tensor))
                             : QStringLiteral("no layer is wrong that leads to an output");
  const QString evaluator =
      run.options.compiler == kOwnCompiler ? QStringLiteral("the reference") : qs(run.options.compiler);
  const QString why = sameInputs ? QStringLiteral("they were measured by the backend %1, the evaluation by %2")
                                       .arg(qs(layers.errors->backend), evaluator)
                                 : QStringLiteral("they were measured on %1, the evaluation on %2")
                                       .arg(qs(inWords(layers.errors->inputs)), qs(inWords(evaluated->inputs)));
  return QStringLiteral("By errors layer by layer %1: %2.").arg(what, why);
}

bool Runs::hasNumbers(const Run& run) {
  return run.time || !run.evaluations.empty() || !run.errors.empty();
}

bool Runs::endedWithoutNumbers(const Run& run) {
  return !run.working() && run.state != RunState::Ready && !hasNumbers(run);
}

QString Runs::title(const std::string& id, const QString& name) {
  return QStringLiteral("run %1, %2").arg(qs(id), name);
}

std::string Runs::add(Run run) {
  const std::string id = std::to_string(m_next++);
  run.id = id;
  if (run.comparison) {
    m_comparison = id;
  } else {
    m_before = {.added = id, .shown = m_shown, .comparedWith = m_comparedWith};
    if (shown() != nullptr) m_comparedWith = m_shown;
    m_shown = id;
  }
  m_runs.push_back(std::move(run));
  emit runsChanged();
  emit shownChanged();
  emit changed();
  return id;
}

void Runs::undoDisplay(const std::string& id) {
  const Run* run = find(id);
  if (run == nullptr || id != m_shown || id != m_before.added || !endedWithoutNumbers(*run)) return;
  m_shown = find(m_before.shown) != nullptr ? m_before.shown : std::string();
  m_comparedWith = find(m_before.comparedWith) != nullptr ? m_before.comparedWith : std::string();
  emit shownChanged();
  emit changed();
}

void Runs::addErrors(const std::string& id, const SharedOptional<RunErrors>& errors) {
  change(id, [&](Run& run) { run.errors.push_back(errors); });
  if (id != m_shown) emit shownChanged();
}

void Runs::rename(const std::string& id, const QString& name) {
  if (name.trimmed().isEmpty()) return;
  change(id, [&](Run& run) { run.name = name.trimmed().toStdString(); });
}

std::int64_t Runs::comparisonsOf(const std::string& id) const {
  return std::ranges::count_if(m_runs, [&](const Run& run) { return run.compares(id); });
}

void Runs::remove(const std::string& id) {
  if (std::erase_if(m_runs, [&](const Run& run) { return run.id == id || run.compares(id); }) == 0) return;
  m_plans->forget(id);
  std::erase(m_lanes, id);
  if (m_comparedWith == id) m_comparedWith.clear();
  if (m_shown == id) {
    const auto last = std::find_if(m_runs.rbegin(), m_runs.rend(), [](const Run& run) { return run.hasEngine(); });
    m_shown = last == m_runs.rend() ? std::string() : last->id;
  }
  if (m_comparedWith == m_shown) m_comparedWith.clear();
  if (find(m_comparison) == nullptr) m_comparison.clear();
  emit runsChanged();
  emit shownChanged();
  emit changed();
}

void Runs::show(const std::string& id) {
  const Run* run = find(id);
  if (run == nullptr || id == m_shown) return;
  if (run->comparison) {
    m_comparedWith = run->comparison->a;
    m_shown = run->comparison->b;
    m_comparison = id;
  } else {
    if (id == m_comparedWith) m_comparedWith = m_shown;
    m_shown = id;
  }
  emit shownChanged();
  emit changed();
}

void Runs::compareWith(const std::string& id) {
  const Run* run = find(id);
  if (run == nullptr || !run->hasEngine() || id == m_comparedWith) return;
  if (id == m_shown) m_shown = m_comparedWith;
  m_comparedWith = id;
  emit shownChanged();
  emit changed();
}

bool Runs::isLane(const std::string& id) const {
  return std::ranges::find(m_lanes, id) != m_lanes.end();
}

QString Runs::laneRefusal(const Run& run) const {
  if (!run.hasEngine()) return QStringLiteral("A comparison has no kernels of its own.");
  if (endedWithoutNumbers(run))
    return QStringLiteral("This run failed or was cancelled, so that it has nothing to show.");
  if (isLane(run.id)) return {};
  if (&run == shown() || &run == comparedWith()) return QStringLiteral("It has a lane already: it is A or B.");
  return m_lanes.size() < kMostLanes
             ? QString()
             : QStringLiteral("The ribbon shows at most %1 further runs: take one out first.").arg(kMostLanes);
}

void Runs::setLane(const std::string& id, bool shown) {
  std::vector<std::string> ids = m_lanes;
  std::erase(ids, id);
  if (shown) ids.push_back(id);
  setLanes(std::move(ids));
}

void Runs::setLanes(std::vector<std::string> ids) {
  std::erase_if(ids, [this](const std::string& id) { return find(id) == nullptr || !find(id)->hasEngine(); });
  if (ids.size() > kMostLanes) ids.resize(kMostLanes);
  if (ids == m_lanes) return;
  m_lanes = std::move(ids);
  emit shownChanged();
  emit changed();
}

void Runs::setSettings(const RunSettings& settings) {
  if (settings == m_settings) return;
  m_settings = settings;
  emit settingsChanged();
  emit changed();
}

void Runs::restore(const Session& session) {
  discard(std::exchange(m_runs, session.runs));  // freeing the measurements of thousands of kernels takes long
  m_shown = session.shown;
  m_comparedWith = session.comparedWith;
  m_comparison = session.comparison;
  m_lanes.clear();
  m_next = session.nextRun;
  m_settings = session.settings;
  m_before = {};
  m_judged = {};
  letPlansGo();
  emit runsChanged();
  emit settingsChanged();
  emit shownChanged();
}

void Runs::store(Session& session) const {
  session.runs = m_runs;
  session.shown = m_shown;
  session.comparedWith = m_comparedWith;
  session.comparison = m_comparison;
  session.nextRun = m_next;
  session.settings = m_settings;
}

}  // namespace fusescope
