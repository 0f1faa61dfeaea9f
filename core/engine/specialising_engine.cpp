#include "engine/specialising_engine.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/elapsed.h"
#include "base/quantities.h"
#include "base/text.h"
#include "engine/program/extent_check.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

std::map<std::string, Dims> extentsOfInputs(const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Dims> extents;
  for (const auto& [name, tensor] : inputs)
    if (tensor.container() == Container::None) extents.emplace(name, tensor.dims());
  return extents;
}

DecisionArguments timesOf(const ServedExtents& served) {
  return {{"general_ms", served.general->ms}, {"specialised_ms", served.specialised->ms}};
}

}  // namespace

std::string_view name(ServingState state) {
  constexpr std::array<std::string_view, 5> kNames{"seen", "building", "trying", "taken_over", "kept_general"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view name(ServedBy engine) {
  return engine == ServedBy::General ? "general" : "specialised";
}

SpecialisingEngine::SpecialisingEngine(std::unique_ptr<Engine> general, SpecialiseOptions options)
    : m_general(std::move(general)), m_options(std::move(options)), m_isOpen(hasOpenInput(m_general->plan().graph())) {
  m_options.mostEngines = std::max<std::size_t>(1, m_options.mostEngines);
  if (!m_options.nowMs) m_options.nowMs = [start = std::chrono::steady_clock::now()] { return msSince(start); };
  if (!m_isOpen) m_decisions.push_back(decide("build.extents_fixed", {}, "engine"));
}

SpecialisingEngine::~SpecialisingEngine() = default;

Result<RunResult> SpecialisingEngine::run(const std::map<std::string, Tensor>& inputs,
                                          const std::vector<std::string>& mark, const StopToken& stop) {
  takeBuild();
  if (!m_isOpen || !mark.empty()) return m_general->run(inputs, mark, stop);
  const std::map<std::string, Dims> extents = extentsOfInputs(inputs);
  Entry* const known = find(extents);
  if (known != nullptr && turnOf(*known) == ServedBy::Specialised) {
    const double start = nowMs();
    auto result = known->engine->run(inputs, {}, stop);
    if (result.ok()) {
      ran(entryOf(extents), ServedBy::Specialised, nowMs() - start);
      return result;
    }
    if (result.error().cancelled) return result;
    // The general engine shows whether the inputs are the cause. If it succeeds, the specialised engine is the cause.
    auto again = m_general->run(inputs, {}, stop);
    if (!again.ok()) return again;
    decided("build.extents_run_failed", *known, {{"why", result.error().text()}});
    keepGeneral(*known);
    return again;
  }
  const double start = nowMs();
  auto result = m_general->run(inputs, {}, stop);
  if (result.ok()) ran(entryOf(extents), ServedBy::General, nowMs() - start);
  return result;
}

Result<TimeReport> SpecialisingEngine::time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  return serving(extentsOfInputs(inputs)).time(inputs, options);
}

Engine& SpecialisingEngine::serving(const std::map<std::string, Dims>& extents) {
  takeBuild();
  const Entry* const known = find(extents);
  const bool hasTakenOver = known != nullptr && known->served.state == ServingState::TakenOver;
  return hasTakenOver ? *known->engine : *m_general;
}

std::optional<ServedExtents> SpecialisingEngine::served(const std::map<std::string, Dims>& extents) const {
  const auto known = m_byExtents.find(extents);
  return known == m_byExtents.end() ? std::nullopt : std::optional(known->second->served);
}

std::size_t SpecialisingEngine::engines() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(m_entries, [](const Entry& entry) { return entry.engine != nullptr; }));
}

std::int64_t SpecialisingEngine::bytes() const {
  std::int64_t bytes = 0;
  for (const Entry& entry : m_entries) bytes += entry.served.bytes;
  return bytes;
}

/// Returns the entry of these extents, or null if there is none.
SpecialisingEngine::Entry* SpecialisingEngine::find(const std::map<std::string, Dims>& extents) {
  const auto known = m_byExtents.find(extents);
  return known == m_byExtents.end() ? nullptr : &*known->second;
}

/// Returns the entry of these extents and marks it as the one that was used last.
SpecialisingEngine::Entry& SpecialisingEngine::entryOf(const std::map<std::string, Dims>& extents) {
  const auto [known, isNew] = m_byExtents.try_emplace(extents);
  if (!isNew) {
    m_entries.splice(m_entries.begin(), m_entries, known->second);
    return m_entries.front();
  }
  m_entries.emplace_front();
  known->second = m_entries.begin();
  m_entries.front().served.extents = extents;
  m_entries.front().metMs = nowMs();
  decided("build.extents_new", m_entries.front());
  forgetOldest();
  return m_entries.front();
}

ServedBy SpecialisingEngine::turnOf(const Entry& entry) const {
  if (entry.served.state == ServingState::TakenOver) return ServedBy::Specialised;
  return entry.served.state == ServingState::Trying ? entry.trial.turn() : ServedBy::General;
}

void SpecialisingEngine::ran(Entry& entry, ServedBy engine, double ms) {
  ServedExtents& served = entry.served;
  ++served.calls;
  ++entry.callsSince;
  if (engine == ServedBy::Specialised) ++served.bySpecialised;
  served.last = engine;
  if (served.state == ServingState::Trying) {
    entry.trial.ran(ms, m_build != nullptr);
    judge(entry);
  }
  if (m_build == nullptr) startBuild();
}

/// Ends the trial if it has a verdict.
void SpecialisingEngine::judge(Entry& entry) {
  const ServingTrial::Verdict verdict = entry.trial.verdict();
  if (verdict == ServingTrial::Verdict::Open) return;
  entry.served.general = entry.trial.general();
  entry.served.specialised = entry.trial.specialised();
  if (verdict == ServingTrial::Verdict::Faster) {
    entry.served.state = ServingState::TakenOver;
    entry.served.takenOverMs = nowMs() - entry.metMs;
    decided("build.extents_taken_over", entry, timesOf(entry.served));
    return;
  }
  decided("build.extents_not_faster", entry, timesOf(entry.served));
  keepGeneral(entry);
  entry.mayTryAgain = true;
  entry.callsSince = 0;
  entry.callsNeeded = std::max(2 * entry.callsNeeded, kCallsBetweenTrials);
}

void SpecialisingEngine::takeBuild() {
  if (m_build != nullptr && m_build->isOver()) awaitBuild();
}

void SpecialisingEngine::awaitBuild() {
  if (m_build == nullptr) return;
  auto made = m_build->take();
  Entry* const entry = find(m_build->extents());
  m_build.reset();
  if (entry != nullptr) takeIn(*entry, std::move(made));
  startBuild();
}

void SpecialisingEngine::takeIn(Entry& entry, Result<SpecialisedEngine> made) {
  entry.served.buildMs = nowMs() - m_buildStartMs;
  if (!made.ok()) {
    decided("build.extents_failed", entry, {{"why", made.error().text()}});
    return keepGeneral(entry);
  }
  if (const auto& difference = made.value().difference) {
    decided("build.extents_other_types", entry,
            {{"what", difference->what},
             {"general", name(difference->general)},
             {"specialised", name(difference->specialised)}});
    return keepGeneral(entry);
  }
  if (made.value().bytes > m_options.mostBytes) {
    decided("build.extents_too_large", entry, {{"bytes", made.value().bytes}, {"most", m_options.mostBytes}});
    return keepGeneral(entry);
  }
  entry.engine = std::move(made.value().engine);
  entry.served.bytes = made.value().bytes;
  entry.served.state = ServingState::Trying;
  entry.trial = {};
  decided("build.extents_built", entry, {{"ms", *entry.served.buildMs}, {"bytes", entry.served.bytes}});
  makeRoom(entry);
}

/// Begins the next build if any extents have occurred often enough.
void SpecialisingEngine::startBuild() {
  const auto isWanted = [](const Entry& entry) {
    const ServingState state = entry.served.state;
    const bool mayBeBuilt = state == ServingState::Seen || (state == ServingState::GeneralKept && entry.mayTryAgain);
    return mayBeBuilt && entry.callsSince >= entry.callsNeeded;
  };
  while (m_build == nullptr) {
    const auto wanted = std::ranges::find_if(m_entries, isWanted);
    if (wanted == m_entries.end()) return;
    m_buildStartMs = nowMs();
    auto build = BackgroundBuild::start(m_options.specialise, wanted->served.extents);
    if (!build.ok()) {
      decided("build.extents_failed", *wanted, {{"why", build.error().text()}});
      keepGeneral(*wanted);
      continue;
    }
    m_build = std::move(build).value();
    wanted->served.state = ServingState::Building;
    decided("build.extents_building", *wanted, {{"calls", wanted->callsSince}});
  }
}

/// Drops engines, beginning with the one that was used longest ago, until the others fit beside that of `newest`.
void SpecialisingEngine::makeRoom(const Entry& newest) {
  while (engines() > m_options.mostEngines || bytes() > m_options.mostBytes) {
    const auto last = std::ranges::find_if(m_entries.rbegin(), m_entries.rend(), [&](const Entry& entry) {
      return entry.engine != nullptr && &entry != &newest;
    });
    if (last == m_entries.rend()) return;
    const bool areTooMany = engines() > m_options.mostEngines;
    decided("build.extents_dropped", *last,
            {{"bytes", last->served.bytes},
             {"newest", openExtentsInWords(plan().graph(), newest.served.extents)},
             {"room", areTooMany ? counted(static_cast<std::int64_t>(m_options.mostEngines), "engine")
                                 : inBytes(m_options.mostBytes)}});
    dropEngine(*last);
    // Without this, extents that alternate would be built again for ever.
    last->served.state = ServingState::Seen;
    last->callsSince = 0;
    last->callsNeeded *= kPatienceAfterDrop;
  }
}

void SpecialisingEngine::keepGeneral(Entry& entry) {
  dropEngine(entry);
  entry.served.state = ServingState::GeneralKept;
  entry.mayTryAgain = false;
}

void SpecialisingEngine::dropEngine(Entry& entry) {
  entry.engine.reset();
  entry.served.bytes = 0;
}

/// Removes the entry that was used longest ago and has no engine and is not being built.
void SpecialisingEngine::forgetOldest() {
  while (m_entries.size() > kMostRemembered) {
    const auto last = std::ranges::find_if(m_entries.rbegin(), m_entries.rend(), [](const Entry& entry) {
      return entry.engine == nullptr && entry.served.state != ServingState::Building;
    });
    if (last == m_entries.rend() || &*last == &m_entries.front()) return;
    m_byExtents.erase(last->served.extents);
    m_entries.erase(std::prev(last.base()));
  }
}

void SpecialisingEngine::decided(std::string_view code, const Entry& entry, DecisionArguments arguments) {
  arguments["extents"] = openExtentsInWords(plan().graph(), entry.served.extents);
  m_decisions.push_back(decide(code, {}, "engine", std::move(arguments)));
  if (m_decisions.size() > kMostDecisions)
    m_decisions.erase(m_decisions.begin(), m_decisions.begin() + kMostDecisions / 4);
}

}  // namespace fusescope
