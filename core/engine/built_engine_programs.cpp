#include <algorithm>

#include "backends/threads.h"
#include "engine/built_engine.h"
#include "engine/program/extent_check.h"
#include "engine/steps/lowering.h"

// The programs of a built engine: one for each set of extents and of marks that occurred.
namespace fusescope {

Result<BuiltEngine::Specialisation*> BuiltEngine::specialisation(Key key, const StopToken& stop) {
  const auto found = std::ranges::find(m_specialisations, key, &Specialisation::key);
  if (found != m_specialisations.end()) {
    ++m_report.shapeCache.hits;
    m_specialisations.splice(m_specialisations.begin(), m_specialisations, found);
    return &m_specialisations.front();
  }
  setThreads(m_threads);
  if (respecialise(key)) return &m_specialisations.front();
  LoweringRequest request{.plan = m_plan.get(),
                          .threads = m_threads,
                          .extents = key.extents,
                          .marks = key.marks,
                          .dynamicKernels = &m_report.dynamicKernels,
                          .bodyProfile = &m_bodyProfile,
                          .stop = stop,
                          .progress = m_options.progress};
  for (const Specialisation& other : m_specialisations)
    if (other.key.extents == key.extents) request.sameExtents = &other.executor.program();
  auto program = std::make_shared<Program>(TRY(lower(request, *m_chooser)));
  auto numbers = numbersFor(key.extents);
  auto threads = threadsOf(*program, key.extents);
  keep({std::move(key), program, Executor(program, m_arenas), std::move(numbers), std::move(threads)});
  return &m_specialisations.front();
}

void BuiltEngine::noteTimes(const std::vector<TacticChoice>& tactics) {
  for (const TacticChoice& choice : tactics)
    for (const TacticTime& candidate : choice.candidates)
      if (candidate.ms && candidate.name == choice.chosen) m_kernelMs.try_emplace(choice.identity, *candidate.ms);
  for (Specialisation& made : m_specialisations) made.threads = threadsOf(*made.program, made.key.extents);
}

/// Returns the sum of the times of its kernels when they were measured; nullopt if one of them has no time.
std::optional<double> BuiltEngine::expectedMs(const Program& program) const {
  double sum = 0;
  for (const Step& step : program.steps) {
    if (!step.fused.valid() || step.compiledBy == nullptr) continue;
    const auto time = m_kernelMs.find(m_plan->fusedNodes[step.fused.index].identity);
    if (time == m_kernelMs.end()) return std::nullopt;
    sum += time->second;
  }
  return sum;
}

/// The times of kernels are known only at the extents of the build.
AdaptiveThreads BuiltEngine::threadsOf(const Program& program, const std::map<std::string, Dims>& extents) const {
  return AdaptiveThreads::of(program, m_threads, extents == m_extents ? expectedMs(program) : std::nullopt);
}

AdaptiveRun BuiltEngine::runOf(Specialisation& made) {
  return {made.executor, made.threads, [this, &made](int threads) {
            return stepKernelsFor(threads, *made.program, *m_plan, made.key.extents, m_chooser->kernels());
          }};
}

void BuiltEngine::keep(Specialisation specialisation) {
  ++m_report.shapeCache.misses;
  m_specialisations.push_front(std::move(specialisation));
  if (m_specialisations.size() > static_cast<std::size_t>(m_options.shapeCache)) m_specialisations.pop_back();
}

/// Prepares the update once, when the second set of extents occurs; an engine that meets only one set does not need it.
void BuiltEngine::prepareUpdate() {
  if (m_updateTried || m_specialisations.empty()) return;
  m_updateTried = true;
  m_update = ProgramUpdate::create(*m_plan, m_specialisations.front().key.extents, m_threads, m_chooser->kernels());
  m_met = {};
  if (m_update == nullptr) return;
  for (Specialisation& made : m_specialisations) made.numbers = m_update->extents().numbersFor(made.key.extents);
}

const std::optional<PlanExtents::Numbers>& BuiltEngine::numbersFor(const std::map<std::string, Dims>& extents) {
  if (m_met.extents != extents)
    m_met = {extents, m_update != nullptr ? m_update->extents().numbersFor(extents) : std::nullopt};
  return m_met.numbers;
}

bool BuiltEngine::respecialise(const Key& key) {
  const std::optional<PlanExtents::Numbers>& numbers = numbersFor(key.extents);
  if (!numbers) return false;
  // If there is no room for more programs, the one that was used longest ago is changed in place; otherwise a copy of
  // it is changed.
  const auto base = std::find_if(m_specialisations.rbegin(), m_specialisations.rend(), [&](const Specialisation& made) {
    return made.numbers && made.key.marks == key.marks;
  });
  if (base == m_specialisations.rend()) return false;
  if (m_specialisations.size() < static_cast<std::size_t>(m_options.shapeCache)) {
    auto program = std::make_shared<Program>(*base->program);
    if (!m_update->apply(*program, *base->numbers, *numbers)) return false;
    keep({key, program, Executor(program, m_arenas), *numbers, threadsOf(*program, key.extents)});
    return true;
  }
  const auto changed = std::prev(base.base());
  if (!m_update->apply(*changed->program, *changed->numbers, *numbers)) {
    m_specialisations.erase(changed);
    return false;
  }
  ++m_report.shapeCache.misses;
  changed->key = key;
  changed->numbers = *numbers;
  changed->executor.programChanged();
  changed->threads = threadsOf(*changed->program, key.extents);
  m_specialisations.splice(m_specialisations.begin(), m_specialisations, changed);
  return true;
}

bool BuiltEngine::areCovered(const std::map<std::string, Dims>& extents) {
  const auto prepared = [&](const Specialisation& other) { return other.key.extents == extents; };
  if (numbersFor(extents) || std::ranges::any_of(m_specialisations, prepared)) return true;
  prepareUpdate();
  return numbersFor(extents).has_value();
}

Result<BuiltEngine*> BuiltEngine::exceptionFor(const std::map<std::string, Dims>& extents, const StopToken& stop) {
  if (areCovered(extents)) return nullptr;
  const auto found = std::ranges::find(m_exceptions, extents, &Exception::extents);
  if (found != m_exceptions.end()) {
    m_exceptions.splice(m_exceptions.begin(), m_exceptions, found);
    return m_exceptions.front().engine.get();
  }
  TRY(checkDemands(*m_plan, extents));
  const auto broken = brokenCondition(*m_plan, extents);
  if (!broken) return nullptr;
  BuildOptions options = m_options;
  options.shapes = extents;
  options.shapeCache = 1;
  options.stop = stop;
  auto engine = TRY(build(TRY(planForExtents(*m_plan, extents, stop)), options, {}));
  Exception exception{extents, std::move(engine)};
  std::string text;
  for (const auto& [name, dims] : extents) text += (text.empty() ? "" : ", ") + name + " " + toText(dims);
  m_report.decisions.push_back(
      decide("build.condition_failed", {}, "engine", {{"extents", text}, {"condition", *broken}}));
  m_exceptions.push_front(std::move(exception));
  if (m_exceptions.size() > static_cast<std::size_t>(m_options.shapeCache)) m_exceptions.pop_back();
  return m_exceptions.front().engine.get();
}

}  // namespace fusescope
