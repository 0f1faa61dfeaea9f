#include "ui/document/runs.h"

#include <algorithm>

#include "ui/document/layer_times.h"
#include "ui/document/qt_text.h"

namespace fusescope {

Runs::Runs(PlanDocument& document, QObject* parent) : QObject(parent), m_document(document) {}

const Run* Runs::find(const std::string& id) const {
  const auto found = std::ranges::find(m_runs, id, &Run::id);
  return found == m_runs.end() ? nullptr : &*found;
}

const RunComparison* Runs::comparison() const {
  for (auto it = m_comparisons.rbegin(); it != m_comparisons.rend(); ++it)
    if (it->a == m_comparedWith && it->b == m_shown) return &*it;
  return nullptr;
}

bool Runs::ofThisPlan(const Run& run) const {
  return run.madeFrom(m_document.modelFile().content, m_document.options(), m_document.inputs());
}

ShownTimes Runs::layerTimes() const {
  const Run* run = shown();
  KnownTimes wanted{.plan = m_document.snapshot()};
  if (run != nullptr && run->time && wanted.plan) {
    wanted.of = run->time;
    wanted.measured = ofThisPlan(*run) ? TimeKind::Measured : TimeKind::OfOtherPlan;
  }
  const bool known = wanted.of.shares(m_known.of) &&
                     (!wanted.of || (wanted.plan == m_known.plan && wanted.measured == m_known.measured));
  if (known) return m_known.times;
  if (wanted.of) wanted.times = layerTimesOf(*std::as_const(wanted.of), *wanted.plan, wanted.measured);
  m_known = std::move(wanted);
  return m_known.times;
}

std::optional<Runs::Failure> Runs::failure() const {
  const Run* run = shown();
  const auto snapshot = m_document.snapshot();
  if (run == nullptr || !snapshot || !ofThisPlan(*run)) return {};
  Failure failure{.verdict = verdict(*run)};
  if (failure.verdict.kind != Verdict::Kind::Fail) return {};
  const auto value = snapshot->graph().findValue(failure.verdict.firstWrong);
  if (value) failure.node = snapshot->graph().value(*value).producer;
  if (failure.node.valid()) failure.name = snapshot->graph().node(failure.node).name;
  return failure;
}

QString Runs::title(const Run& run) {
  return QStringLiteral("run %1, %2").arg(qs(run.id), qs(run.name));
}

std::string Runs::add(Run run) {
  run.id = std::to_string(m_next++);
  if (shown() != nullptr) m_comparedWith = m_shown;
  m_shown = run.id;
  m_runs.push_back(std::move(run));
  emit runsChanged();
  emit shownChanged();
  emit changed();
  return m_shown;
}

void Runs::rename(const std::string& id, const QString& name) {
  if (name.trimmed().isEmpty()) return;
  change(id, [&](Run& run) { run.name = name.trimmed().toStdString(); });
}

void Runs::remove(const std::string& id) {
  if (std::erase_if(m_runs, [&](const Run& run) { return run.id == id; }) == 0) return;
  std::erase_if(m_comparisons,
                [&](const RunComparison& comparison) { return comparison.a == id || comparison.b == id; });
  if (m_shown == id) m_shown = m_runs.empty() ? std::string() : m_runs.back().id;
  if (m_comparedWith == id || m_comparedWith == m_shown) m_comparedWith.clear();
  emit runsChanged();
  emit shownChanged();
  emit changed();
}

void Runs::show(const std::string& id) {
  if (id == m_shown || find(id) == nullptr) return;
  if (id == m_comparedWith) m_comparedWith = m_shown;
  m_shown = id;
  emit shownChanged();
  emit changed();
}

void Runs::compareWith(const std::string& id) {
  if (id == m_comparedWith || find(id) == nullptr) return;
  if (id == m_shown) m_shown = m_comparedWith;
  m_comparedWith = id;
  emit shownChanged();
  emit changed();
}

void Runs::add(RunComparison comparison) {
  m_comparisons.push_back(std::move(comparison));
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
  m_runs = session.runs;
  m_comparisons = session.comparisons;
  m_shown = session.shown;
  m_comparedWith = session.comparedWith;
  m_next = session.nextRun;
  m_settings = session.settings;
  emit runsChanged();
  emit settingsChanged();
  emit shownChanged();
}

void Runs::store(Session& session) const {
  session.runs = m_runs;
  session.comparisons = m_comparisons;
  session.shown = m_shown;
  session.comparedWith = m_comparedWith;
  session.nextRun = m_next;
  session.settings = m_settings;
}

}  // namespace fusescope
