#include <algorithm>
#include <cmath>
#include <functional>
#include <ranges>

#include "backends/reference/reference_backend.h"
#include "engine/kernels/host_machine.h"
#include "engine/kernels/plan_backend.h"
#include "engine/tactics/tactic_chooser.h"
#include "engine/tactics/timing_price_model.h"
#include "planning/structure.h"

// What TacticChooser measures, and what it keeps of it.
namespace fusescope {
namespace {

constexpr MeasureBudget kAlone{.msEach = 15, .leastRounds = 3, .fewRounds = 3, .mostRounds = 12, .precision = 0.1};
constexpr MeasureBudget kConversion{.msEach = 5, .leastRounds = 3, .fewRounds = 8, .mostRounds = 60, .precision = 0.03};
constexpr int kMostConversionTimes = 5;  // where samples hardly agree
/// Roughly, for conversions that no plan needs yet: others are predicted from a series of them.
constexpr MeasureBudget kSample{.msEach = 3, .leastRounds = 3, .fewRounds = 3, .mostRounds = 40, .precision = 0.05};
/// Of conversions between two types, there and back: enough to tell what others take.
constexpr std::int64_t kConvertedElements[] = {1 << 4, 1 << 7, 1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 21};
constexpr double kNear = 1.6;      // times the fastest: measured again
constexpr double kSettled = 0.02;  // by how much two times of one kernel may differ
constexpr double kMuchLonger = 3;  // than on a quiet machine: others use the processors
// Multiples of the patience with a region of which no run was undisturbed: the next build may measure it.
constexpr double kFirstPatience = 3, kLeastPatience = 0.1;
constexpr double kMostAgain = 2;            // times as long as measuring once took, for measuring again
constexpr double kGuessedBytesPerMs = 1e7;  // of conversions, where nothing is measured
constexpr double kLeastShare = 0.1;         // of the guess: hardly any conversion takes less

std::vector<TensorDesc> inputDescs(const KernelRequest& request, const Tactic& tactic) {
  std::vector<TensorDesc> descs;
  for (std::size_t i = 0; i < request.fused->inputs.size(); ++i) {
    descs.push_back(request.values.at(request.fused->inputs[i]));
    descs.back().format = tactic.inputs[i];
  }
  return descs;
}

std::vector<TensorDesc> outputDescs(const KernelRequest& request, const Tactic& tactic) {
  std::vector<TensorDesc> descs;
  for (std::size_t i = 0; i < request.fused->outputs.size(); ++i) {
    descs.push_back(request.values.at(request.fused->outputs[i].value));
    descs.back().format = tactic.outputs[i];
  }
  return descs;
}

bool isPlainConversion(const TensorDesc& from, const TensorDesc& to) {
  return from.format.isPlain() && to.format.isPlain();
}

double guessedConversionMs(const TensorDesc& from, const TensorDesc& to) {
  return static_cast<double>(from.bytes() + to.bytes()) / kGuessedBytesPerMs;
}

Measurement measurementOf(const KernelTime& time) {
  return {.ms = time.ms, .spread = time.spread, .day = measurementDay(), .median = time.median, .quiet = time.quiet};
}

KernelTime timeOf(const Measurement& measured) {
  return {.ms = measured.ms, .median = measured.median, .spread = measured.spread, .quiet = measured.quiet};
}

/// Returns whether no run went undisturbed: such a time is measured again by the next build.
bool isDisturbed(const KernelTime& time) {
  return !time.quiet && time.spread > kConfidentSpread;
}

/// Returns whether a time that may be the fastest was disturbed: then they cannot be compared.
bool areDisturbed(std::span<const std::optional<KernelTime>> times) {
  std::optional<double> best;
  for (const auto& time : times)
    if (time) best = std::min(best.value_or(time->ms), time->ms);
  return std::ranges::any_of(times,
                             [&](const auto& time) { return time && time->ms <= kNear * *best && isDisturbed(*time); });
}

/// Returns the index of the fastest; nothing if there are no times.
std::optional<std::size_t> fastestOf(std::span<const std::optional<KernelTime>> times) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] && (!best || times[i]->ms < times[*best]->ms)) best = i;
  return best;
}

bool areSameFormats(const Tactic& a, const Tactic& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs;
}

/// Returns the tactics that may still turn out to be the best choice, or whose times say nothing.
std::vector<std::size_t> nearFastest(std::span<const Tactic> tactics, std::span<const std::optional<KernelTime>> times,
                                     double leastGain) {
  std::vector<std::size_t> near;
  const auto best = fastestOf(times);
  for (std::size_t i = 0; best && i < times.size(); ++i) {
    if (!times[i]) continue;
    const bool isFar = times[i]->ms > kNear * times[*best]->ms ||
                       isBeaten(*times[i], *times[*best], areSameFormats(tactics[i], tactics[*best]));
    const auto isPreferred = [&](std::size_t earlier) {
      return times[earlier] && areSameFormats(tactics[i], tactics[earlier]) &&
             isNoBetter(*times[i], *times[earlier], leastGain);
    };
    const bool isNear = !isFar && std::ranges::none_of(std::views::iota(std::size_t{0}, i), isPreferred);
    if (isNear || isDisturbed(*times[i])) near.push_back(i);
  }
  return near;
}

/// What measuring these takes at most if nothing else runs.
double quietMs(std::span<const std::optional<KernelTime>> times, const MeasureBudget& budget) {
  double sum = 0;
  for (const auto& time : times)
    if (time) sum += std::max(budget.msEach, (budget.leastRounds + 1) * time->ms);
  return sum;
}

}  // namespace

/// As those of the caller's parallel regions, if nobody gave others.
MeasuredThreads TacticChooser::threads() const {
  return m_options.measuredThreads != nullptr ? *m_options.measuredThreads : MeasuredThreads();
}

/// The time of one kernel, if it runs on plausible data.
Result<std::optional<KernelTime>> TacticChooser::timeAlone(const MeasuredKernel& kernel, const MeasureBudget& budget) {
  const double start = m_effort->nowMs();
  auto times = measureKernels(std::span(&kernel, 1), budget, m_options.stop, threads());
  m_effort->spend(m_effort->nowMs() - start);
  return TRY(std::move(times)).front();
}

std::optional<KernelTime> TacticChooser::knownTime(const std::string& key) {
  if (const auto known = m_times.find(key); known != m_times.end()) return known->second;
  if (const auto known = memory() != nullptr ? memory()->time(key) : std::nullopt) return m_times[key] = *known;
  const auto stored = m_cache != nullptr ? m_cache->find(key) : std::nullopt;
  if (!stored || isDisturbed(timeOf(*stored))) return std::nullopt;
  if (memory() != nullptr) memory()->keepTime(key, timeOf(*stored));
  return m_times[key] = timeOf(*stored);
}

/// The times of all that can be compared: the oracle is never the fastest of several, and may take seconds.
void TacticChooser::refresh(const Backend& backend, const KernelRequest& request, TacticWays& ways) {
  const TimingContext context = timingContext(*m_plan, backend, request.threads);
  ways.open.clear();
  for (std::size_t i = 0; i < ways.tactics.size(); ++i) {
    const Tactic& tactic = ways.tactics[i];
    if (tactic.numerics.emulated || tactic.backend == kReferenceBackend) continue;
    ways.times[i] = knownTime(timingKey(ways.region, tactic, context));
    if (!ways.times[i]) ways.open.push_back(i);
  }
}

Status TacticChooser::compare(const Backend& backend, const KernelRequest& request, TacticWays& ways) {
  ways.left = LeftUnmeasured::No;
  refresh(backend, request, ways);
  if (ways.open.empty()) return Done{};
  const double start = m_effort->nowMs();
  const auto times = TRY(timesOf(backend, request, ways, ways.open));
  const double spent = m_effort->nowMs() - start;
  m_measuringMs += spent;
  m_effort->spend(spent);
  if (!m_isBrief && areDisturbed(times)) {
    leave(ways, LeftUnmeasured::MachineBusy);
    return Done{};
  }
  ways.measuredHere = true;
  ways.isSettled = false;
  const TimingContext context = timingContext(*m_plan, backend, request.threads);
  for (std::size_t k = 0; k < ways.open.size(); ++k) {
    ways.times[ways.open[k]] = times[k];
    if (!times[k]) continue;
    keepTime(timingKey(ways.region, ways.tactics[ways.open[k]], context), *times[k]);
    m_effort->noteSpread(times[k]->spread);
  }
  ways.open.clear();
  ways.moments.push_back(ways.times);
  return Done{};
}

/// Measured now, side by side.
Result<std::vector<std::optional<KernelTime>>> TacticChooser::timesOf(const Backend& backend,
                                                                      const KernelRequest& request, TacticWays& ways,
                                                                      std::span<const std::size_t> which) {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  std::vector<MeasuredKernel> measured;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < which.size(); ++k) {
    TRY(checkStop(m_options.stop));
    const Tactic& tactic = ways.tactics[which[k]];
    bool isCompiled = false;
    auto kernel = this->kernels().kernel(backend, request, tactic, &isCompiled);
    if (isCompiled) m_compiledRegions.insert(ways.region);
    if (!kernel.ok()) continue;  // a way that does not work out is no candidate; the others are tried
    places.push_back(k);
    kernels.push_back(std::move(kernel).value());
    measured.push_back({kernels.back().get(), inputDescs(request, tactic), outputDescs(request, tactic)});
  }
  std::vector<std::optional<KernelTime>> times(which.size());
  if (measured.empty()) return times;
  MeasureBudget budget = m_budget;
  if (!m_isBrief) {
    const double once = std::max(budget.patience * budget.msEach, budget.leastPatienceMs);
    const double affordable = m_effort->leftMs() / (once * static_cast<double>(measured.size()));
    budget.endOfPatience = std::clamp(affordable, kLeastPatience, m_effort->isDoubtful() ? 1.0 : kFirstPatience);
  }
  const double start = m_effort->nowMs();
  const auto found = TRY(measureKernels(measured, budget, m_options.stop, threads()));
  const double spent = m_effort->nowMs() - start;
  if (!m_isBrief) m_effort->noteAttempt(areDisturbed(found) || spent > kMuchLonger * quietMs(found, budget));
  for (std::size_t i = 0; i < found.size(); ++i) times[places[i]] = found[i];
  if (const auto best = fastestOf(found)) ways.fastest = kernels[*best];
  return times;
}

void TacticChooser::keepTime(const std::string& key, const KernelTime& time) {
  m_measuredHere.insert(key);
  m_times[key] = time;
  if (m_cache != nullptr && !m_isBrief) m_cache->store(key, measurementOf(time));
  if (memory() != nullptr) memory()->keepTime(key, time);
}

Status TacticChooser::measureAgain(const Backend& backend, const KernelRequest& request, TacticWays& ways) {
  if (ways.isSettled || m_isBrief || m_againMs > kMostAgain * m_measuringMs || isOver()) return Done{};
  const std::vector<std::size_t> near = nearFastest(ways.tactics, ways.times, m_budget.leastGain);
  ways.isSettled = true;
  if (near.size() < 2) return Done{};
  const TimingContext context = timingContext(*m_plan, backend, request.threads);
  const double start = m_effort->nowMs();
  const auto again = TRY(timesOf(backend, request, ways, near));
  const double spent = m_effort->nowMs() - start;
  m_againMs += spent;
  m_effort->spend(spent);
  ways.moments.emplace_back(ways.tactics.size());
  for (std::size_t k = 0; k < near.size(); ++k) {
    std::optional<KernelTime>& time = ways.times[near[k]];
    if (!again[k]) continue;
    ways.moments.back()[near[k]] = again[k];
    m_effort->noteSpread(std::abs(again[k]->ms - time->ms) / std::max(time->ms, again[k]->ms));
    if (std::abs(again[k]->ms - time->ms) > kSettled * std::min(time->ms, again[k]->ms)) ways.isSettled = false;
    if (again[k]->ms >= time->ms) continue;
    time = again[k];
    keepTime(timingKey(ways.region, ways.tactics[near[k]], context), *time);
  }
  return Done{};
}

void TacticChooser::keepDistinguishedTimes(const TimingContext& context, const TacticWays& ways) {
  if (!m_prefers || ways.moments.empty()) return;
  const auto times = distinguishedTimes(ways.moments);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i]) keepTime(timingKey(ways.region, ways.tactics[i], context), *times[i]);
}

void TacticChooser::noteMeasuring(const std::map<std::string, Dims>& extents) {
  m_report->measuring = m_effort->report();
  for (Decision& decision : leftUnmeasured(m_report->measuring)) m_report->decisions.push_back(std::move(decision));
  predictLeft(extents);
  noteDisturbed();
  shareTimes();
  if (const std::string problem = m_cache != nullptr ? m_cache->problem() : std::string(); !problem.empty())
    m_report->decisions.push_back(decide("cache.times_not_kept", {}, "timing_cache",
                                         {{"file", m_options.timingCache.string()}, {"problem", problem}}));
}

/// By the price model, which now knows what this build measured too.
void TacticChooser::predictLeft(const std::map<std::string, Dims>& extents) {
  const auto isLeft = [](const TacticChoice& choice) { return choice.left != LeftUnmeasured::No; };
  if (m_cache == nullptr || std::ranges::none_of(m_report->tactics, isLeft)) return;
  const TimingPriceModel model(m_cache, acceleratedBackendOf(*m_plan), m_options.threads);
  const std::vector<Price> prices = m_path.isNetwork() ? model.kernelsAt(*m_plan, extents) : model.kernels(*m_plan);
  std::map<Hash128, std::optional<double>> predicted;
  for (const FusedNode& fused : m_plan->fusedNodes) predicted[identityOf(fused)] = prices[fused.id.index].ms;
  for (TacticChoice& choice : m_report->tactics)
    if (const auto found = predicted.find(choice.identity); isLeft(choice) && found != predicted.end())
      choice.predictedMs = found->second;
  for (const auto& [plan, body] : m_bodies) body->predictLeft(extents);
}

void TacticChooser::noteDisturbed() {
  std::vector<KernelTime> times;
  const std::function<void(const TacticChooser&)> add = [&](const TacticChooser& chooser) {
    for (const std::string& key : chooser.m_measuredHere) times.push_back(chooser.m_times.at(key));
    for (const auto& [plan, body] : chooser.m_bodies) add(*body);
  };
  add(*this);
  if (auto disturbed = disturbance(times)) m_report->decisions.push_back(std::move(*disturbed));
}

/// The time of a fused node that can run in one way alone: measured to predict plans, once for each distinct region.
Result<std::optional<double>> TacticChooser::onlyTime(const Backend& backend, const KernelRequest& request,
                                                      const std::string& region, const ChosenTactic& chosen) {
  const std::optional<double> none;
  if (m_cache == nullptr || m_quiet || m_isBrief || chosen.tactic.numerics.emulated ||
      m_plan->target.acceleratedBackend == kReferenceBackend)
    return none;
  const TimingContext context = timingContext(*m_plan, backend, request.threads);
  const std::string key = regionTimeKey(region, context);
  if (const auto ms = memory() != nullptr ? memory()->onlyMs(key) : std::nullopt) return ms;
  const auto known = m_cache->find(key);
  if (known && known->spread <= kConfidentSpread) return std::optional(known->ms);
  if (isOver()) return known ? std::optional(known->ms) : none;
  const auto time = TRY(timeAlone(
      {chosen.kernel.get(), inputDescs(request, chosen.tactic), outputDescs(request, chosen.tactic)}, kAlone));
  if (time) m_measuredRegions.insert(region);
  const bool isBetter = time && (!known || time->spread < known->spread);
  if (!isBetter && !known) return none;
  const double ms = isBetter ? time->ms : known->ms;
  if (isBetter) storeRegion(backend, request, region, context, *time);
  if (memory() != nullptr) memory()->keepOnlyMs(key, ms);
  return std::optional(ms);
}

void TacticChooser::storeRegion(const Backend& backend, const KernelRequest& request, const std::string& region,
                                const TimingContext& context, const KernelTime& time) {
  const std::string key = regionTimeKey(region, context);
  if (const auto workload = regionWorkload(request, context)) {
    m_cache->store(key, measurementOf(time), *workload);
  } else {
    m_cache->store(key, measurementOf(time));
  }
  const auto pure = pureKernelOf(request, region);
  const auto known = pure ? m_cache->find(regionTimeKey(pure->region, context)) : std::nullopt;
  if (known && known->spread <= kConfidentSpread)
    m_cache->store(mixedTimeKey(region, context), measurementOf(time),
                   mixedWorkload(request, known->ms, pure->foreignBytes, runsAsOne(backend, request), context));
}

double TacticChooser::conversionMs(const Backend& backend, const TensorDesc& from, const TensorDesc& to) {
  if (from == to) return 0;
  if (m_options.measureTactics && !m_isBrief) return measuredConversion(backend, from, to, kConversion);
  const auto known = m_isBrief ? knownConversion(backend, from, to) : std::nullopt;
  return known.value_or(guessedConversionMs(from, to));
}

double TacticChooser::leastConversionMs(const Backend& backend, const TensorDesc& from, const TensorDesc& to) {
  if (from == to || backend.emulatesConversion(from, to)) return 0;
  const std::string key = conversionTimeKey(from, to, timingContext(backend, m_options.threads));
  if (const auto found = m_conversions.find(key); found != m_conversions.end()) return found->second;
  if (const auto ms = memory() != nullptr ? memory()->conversionMs(key) : std::nullopt) return *ms;
  const auto known = knownConversion(backend, from, to);
  return known.value_or(kLeastShare * guessedConversionMs(from, to));
}

/// What an earlier build measured.
std::optional<double> TacticChooser::knownConversion(const Backend& backend, const TensorDesc& from,
                                                     const TensorDesc& to) const {
  if (m_cache == nullptr) return std::nullopt;
  const auto known = m_cache->find(conversionTimeKey(from, to, timingContext(backend, m_options.threads)));
  return known ? std::optional(known->ms) : std::nullopt;
}

double TacticChooser::measuredConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to,
                                         const MeasureBudget& budget) {
  if (backend.emulatesConversion(from, to)) return 0;
  const TimingContext context = timingContext(backend, m_options.threads);
  const std::string key = conversionTimeKey(from, to, context);
  const auto [entry, isNew] = m_conversions.emplace(key, 0.0);
  if (!isNew) return entry->second;
  if (const auto ms = memory() != nullptr ? memory()->conversionMs(key) : std::nullopt) return entry->second = *ms;
  const auto known = m_cache != nullptr ? m_cache->find(key) : std::nullopt;
  if (known) entry->second = known->ms;
  if (known && known->spread <= kConfidentSpread) return known->ms;
  if (isOver()) return entry->second = known ? known->ms : guessedConversionMs(from, to);
  const auto kernel = kernels().conversion(backend, from, to, m_options.threads);
  if (!kernel.ok()) return entry->second;
  std::optional<KernelTime> time;
  for (int i = 0; i < kMostConversionTimes && (!time || time->spread > kConfidentSpread); ++i) {
    const auto found = timeAlone({kernel.value().get(), {from}, {to}}, budget);
    if (!found.ok() || !found.value()) return entry->second;
    if (!time || found.value()->ms < time->ms) time = found.value();
  }
  if (!known || time->spread < known->spread) {
    if (m_cache != nullptr) storeConversion(key, from, to, context, *time);
    entry->second = time->ms;
  }
  if (memory() != nullptr) memory()->keepConversionMs(key, entry->second);
  return entry->second;
}

/// As a sample of its series too, where only the type changes.
void TacticChooser::storeConversion(const std::string& key, const TensorDesc& from, const TensorDesc& to,
                                    const TimingContext& context, const KernelTime& time) {
  const std::int64_t elements = elementCount(from.dims).value_or(0);
  if (isPlainConversion(from, to)) {
    m_cache->store(key, measurementOf(time), conversionWorkload(from.dtype, to.dtype, elements, context));
  } else {
    m_cache->store(key, measurementOf(time));
  }
}

void TacticChooser::noteConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to) {
  const bool isMeasured = m_cache != nullptr && !m_quiet && !m_isBrief && !isOver() &&
                          m_plan->target.acceleratedBackend != kReferenceBackend;
  if (!isMeasured || !isPlainConversion(from, to)) return;
  measuredConversion(backend, from, to, kConversion);
  if (!isExchangeable(from.dtype) || !isExchangeable(to.dtype)) return;
  const auto [one, other] = std::minmax(from.dtype, to.dtype);
  if (!m_notedTypes.emplace(&backend, one, other).second) return;
  for (const std::int64_t elements : kConvertedElements) {
    const TensorDesc before{from.dtype, {elements}}, after{to.dtype, {elements}};
    measuredConversion(backend, before, after, kSample);
    measuredConversion(backend, after, before, kSample);
  }
}

}  // namespace fusescope
