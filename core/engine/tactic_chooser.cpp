#include "engine/tactic_chooser.h"

#include <algorithm>

#include "base/text.h"
#include "engine/host_machine.h"
#include "engine/workspace.h"
#include "planning/directives/directive_form.h"
#include "planning/match_pattern.h"

namespace fusescope {
namespace {

constexpr std::string_view kReference = "reference";
constexpr double kTooLongToConfirmMs = 100;
constexpr double kFewRuns = 0;  // as best time so far: everything is slower, and measured with few runs

std::vector<std::string> namesOf(const std::vector<Tactic>& tactics) {
  std::vector<std::string> names;
  for (const Tactic& tactic : tactics) names.push_back(tactic.name);
  return names;
}

const Tactic* find(const std::vector<Tactic>& tactics, const std::string& name) {
  const auto found = std::ranges::find(tactics, name, &Tactic::name);
  return found == tactics.end() ? nullptr : &*found;
}

std::vector<TensorDesc> inputDescs(const KernelRequest& request, const Tactic& tactic) {
  std::vector<TensorDesc> descs;
  for (std::size_t i = 0; i < request.fused->inputs.size(); ++i) {
    descs.push_back(request.values.at(request.fused->inputs[i]));
    descs.back().layout = tactic.inputLayouts[i];
  }
  return descs;
}

std::vector<TensorDesc> outputDescs(const KernelRequest& request, const Tactic& tactic) {
  std::vector<TensorDesc> descs;
  for (std::size_t i = 0; i < request.fused->outputs.size(); ++i) {
    descs.push_back(request.values.at(request.fused->outputs[i].value));
    descs.back().layout = tactic.outputLayouts[i];
  }
  return descs;
}

bool isPlainConversion(const TensorDesc& from, const TensorDesc& to) {
  return from.layout == Layout::Plain && to.layout == Layout::Plain;
}

Measurement measurementOf(const KernelTime& time) {
  return {.ms = time.ms, .spread = time.spread, .day = measurementDay()};
}

}  // namespace

Hash128 tacticIdentity(const std::string& prefix, const FusedNode& fused) {
  return prefix.empty() ? fused.identity : hashText(prefix + fused.identity.hex());
}

Subject TacticChooser::subjectOf(const FusedNode& fused) const {
  return Subject::fusedNode(nameOf(fused), identityOf(fused).hex());
}

Result<TacticChooser> TacticChooser::create(const Plan& plan, const BuildOptions& options, BuildReport& report,
                                            TacticsByIdentity replay) {
  TacticChooser chooser(plan, options, report);
  chooser.m_replay = std::move(replay);
  TRY(chooser.readDirectives());
  if (options.timingCache.empty() || !options.measureTactics) return chooser;
  auto opened = TimingCache::open(options.timingCache);
  if (!opened.ok()) {
    report.decisions.push_back(decide("cache.unavailable", {}, "timing_cache",
                                      {{"file", options.timingCache.string()}, {"problem", opened.error().message}}));
    return chooser;
  }
  chooser.m_cache = std::move(opened).value();
  if (!chooser.m_cache->movedAside().empty())
    report.decisions.push_back(
        decide("cache.damaged", {}, "timing_cache",
               {{"file", options.timingCache.string()}, {"moved_to", chooser.m_cache->movedAside().string()}}));
  return chooser;
}

Status TacticChooser::readDirectives() {
  PatternMatcher matcher(*m_plan->model);
  for (const Directive& directive : m_plan->options.directives) {
    if (formOf(directive).reach != DirectiveReach::Tactics) continue;
    for (const NodeId node : TRY(matcher.match(directive.pattern, m_options.stop)).nodes)
      m_directives[node] = &directive;
  }
  return Done{};
}

Result<TacticChooser*> TacticChooser::ofBody(const Plan& body, const std::string& prefix) {
  std::unique_ptr<TacticChooser>& entry = m_bodies[&body];
  if (entry != nullptr) return entry.get();
  std::unique_ptr<TacticChooser> chooser(new TacticChooser(body, m_options, *m_report));
  chooser->m_prefix = m_prefix + prefix;
  chooser->m_cache = m_cache;
  chooser->m_quiet = m_quiet;
  chooser->m_replay = m_replay;
  TRY(chooser->readDirectives());
  entry = std::move(chooser);
  return entry.get();
}

void TacticChooser::replayChoices() {
  m_replay = m_choices;
  m_options.stop = {};
  m_options.progress = {};
  m_quiet = true;
  for (const auto& [plan, body] : m_bodies) body->replayChoices();
}

void TacticChooser::note(const KernelRequest& request, const std::string& chosen, bool fromCache,
                         std::vector<TacticTime> times) {
  m_choices[identityOf(*request.fused)] = chosen;
  if (m_quiet) return;
  m_report->tactics.push_back(
      {nameOf(*request.fused), identityOf(*request.fused), chosen, fromCache, std::move(times)});
}

void TacticChooser::noteDynamic(const FusedNode& fused, const std::string& why) {
  if (m_quiet) return;
  m_report->decisions.push_back(decide("tactic.dynamic", {subjectOf(fused)}, "extents", {{"reason", why}}));
  m_report->tactics.push_back(
      {.fusedNode = nameOf(fused), .identity = identityOf(fused), .chosen = std::string(kDynamicTactic)});
}

const Tactic* TacticChooser::asked(const KernelRequest& request, const std::vector<Tactic>& tactics,
                                   const std::vector<Tactic>& offered) {
  const Directive* directive = nullptr;
  for (const NodeId node : request.fused->nodes)
    if (const auto found = m_directives.find(node); found != m_directives.end()) directive = found->second;
  if (directive == nullptr) return nullptr;
  const Tactic* tactic = find(tactics, directive->rule);
  if (m_quiet) return tactic;
  const std::vector<Subject> subjects{subjectOf(*request.fused)};
  const std::string by = directiveName(*directive);
  if (tactic != nullptr) {
    m_report->decisions.push_back(decide("tactic.pinned", subjects, by, {{"tactic", directive->rule}}));
  } else if (find(offered, directive->rule) == nullptr) {  // else the workspace refused it, and that was told
    const auto nearest = nearestNames(directive->rule, namesOf(tactics));
    m_report->decisions.push_back(
        decide("tactic.unknown", subjects, by, {{"tactic", directive->rule}, {"nearest", joined(nearest)}}));
  }
  return tactic;
}

const Tactic* TacticChooser::replayed(const KernelRequest& request, const std::vector<Tactic>& tactics) {
  const auto wanted = m_replay.find(identityOf(*request.fused));
  if (wanted == m_replay.end()) return nullptr;
  const Tactic* tactic = find(tactics, wanted->second);
  if (tactic != nullptr || m_quiet) return tactic;
  const auto nearest = nearestNames(wanted->second, namesOf(tactics), 1);
  m_report->decisions.push_back(decide("tactic.missing", {subjectOf(*request.fused)}, "replay",
                                       {{"tactic", wanted->second}, {"nearest", joined(nearest)}}));
  return find(tactics, nearest.empty() ? tactics.front().name : nearest.front());
}

Result<ChosenTactic> TacticChooser::take(const Backend& backend, const KernelRequest& request, const Tactic& tactic) {
  return ChosenTactic{tactic, TRY(m_kernels->kernel(backend, request, tactic))};
}

Result<ChosenTactic> TacticChooser::choose(const Backend& backend, const KernelRequest& request,
                                           const InputCost& inputCost) {
  const std::vector<Tactic> offered = backend.tactics(request);
  if (offered.empty())
    return Diagnostic{.message = "the " + std::string(backend.name()) + " backend has no way to run it",
                      .where = {.node = request.fused->name}};
  const std::vector<Tactic> tactics = TRY(withinWorkspace(backend, request, offered));
  const std::string region = regionKey(request);
  if (!m_quiet) noteRegion(request, region);
  const Tactic* fixed = asked(request, tactics, offered);
  if (fixed == nullptr) fixed = replayed(request, tactics);
  if (fixed == nullptr && (tactics.size() == 1 || !m_options.measureTactics || tactics.front().emulated))
    fixed = &tactics.front();
  if (fixed == nullptr) return fastest(backend, request, region, tactics, inputCost);
  std::vector<TacticTime> times;
  for (const Tactic& tactic : tactics) times.push_back({tactic.name, std::nullopt});
  ChosenTactic chosen = TRY(take(backend, request, *fixed));
  if (tactics.size() == 1) times.front().ms = onlyTime(backend, request, region, chosen);
  note(request, fixed->name, false, std::move(times));
  return chosen;
}

/// The time of a fused node that can run in one way alone: measured to predict plans, once for each distinct region.
std::optional<double> TacticChooser::onlyTime(const Backend& backend, const KernelRequest& request,
                                              const std::string& region, const ChosenTactic& chosen) {
  if (m_cache == nullptr || m_quiet || chosen.tactic.emulated || m_options.backend == kReference) return std::nullopt;
  const TimingContext context = timingContext(*m_plan, backend, request.threads);
  std::optional<KernelTime> time;
  if (const auto known = m_cache->find(regionTimeKey(region, context))) time = KernelTime{known->ms, known->spread};
  if (time && time->spread <= kConfidentSpread) return time->ms;
  if (!time)
    time = measureKernel(*chosen.kernel, inputDescs(request, chosen.tactic), outputDescs(request, chosen.tactic),
                         kFewRuns);
  if (!time) return std::nullopt;
  time = confirmed(request, chosen, *time);
  storeRegion(request, region, context, *time);
  return time->ms;
}

/// `time`, or where its samples disagree what measuring once more gives, if those agree better.
KernelTime TacticChooser::confirmed(const KernelRequest& request, const ChosenTactic& chosen, const KernelTime& time) {
  if (time.spread <= kConfidentSpread || time.ms > kTooLongToConfirmMs) return time;
  const auto again = measureKernel(*chosen.kernel, inputDescs(request, chosen.tactic),
                                   outputDescs(request, chosen.tactic), std::nullopt);
  return again && again->spread < time.spread ? *again : time;
}

void TacticChooser::storeRegion(const KernelRequest& request, const std::string& region, const TimingContext& context,
                                const KernelTime& time) {
  const std::string key = regionTimeKey(region, context);
  if (const auto workload = regionWorkload(request, context)) {
    m_cache->store(key, measurementOf(time), *workload);
  } else {
    m_cache->store(key, measurementOf(time));
  }
}

Status TacticChooser::measure(const Backend& backend, const KernelRequest& request, const std::string& key,
                              Candidate& candidate, std::optional<double> best, bool& measuredHere) {
  if (const auto known = m_times.find(key); known != m_times.end()) {
    candidate.time = known->second;
    return Done{};
  }
  if (m_cache != nullptr) {
    if (const auto known = m_cache->find(key)) candidate.time = KernelTime{known->ms, known->spread};
  }
  if (!candidate.time) {
    auto kernel = m_kernels->kernel(backend, request, candidate.tactic);
    if (!kernel.ok()) return Done{};  // a way that does not work out is no candidate; the others are tried
    candidate.kernel = std::move(kernel).value();
    candidate.time = measureKernel(*candidate.kernel, inputDescs(request, candidate.tactic),
                                   outputDescs(request, candidate.tactic), best);
    measuredHere = true;
    if (candidate.time && m_cache != nullptr) m_cache->store(key, measurementOf(*candidate.time));
  }
  if (candidate.time) m_times[key] = *candidate.time;
  return Done{};
}

Result<ChosenTactic> TacticChooser::fastest(const Backend& backend, const KernelRequest& request,
                                            const std::string& region, const std::vector<Tactic>& tactics,
                                            const InputCost& inputCost) {
  const TimingContext context = timingContext(*m_plan, backend, request.threads);
  Candidate winner;
  std::optional<double> winningCost, bestKernel;
  bool measuredHere = false;
  std::vector<TacticTime> times;
  for (const Tactic& tactic : tactics) {
    TRY(checkStop(m_options.stop));
    Candidate candidate{.tactic = tactic};
    // The oracle is never the fastest of several, and may take seconds.
    const bool measurable = !tactic.emulated && tactic.name != kReference;
    if (measurable)
      TRY(measure(backend, request, timingKey(region, tactic, context), candidate, bestKernel, measuredHere));
    times.push_back({tactic.name, candidate.time ? std::optional(candidate.time->ms) : std::nullopt});
    if (!candidate.time) continue;
    const double ms = candidate.time->ms;
    double cost = ms;
    for (std::size_t i = 0; i < request.fused->inputs.size(); ++i) cost += inputCost(i, tactic.inputLayouts[i]);
    bestKernel = std::min(bestKernel.value_or(ms), ms);
    if (winningCost && *winningCost <= cost) continue;
    winningCost = cost;
    winner = std::move(candidate);
  }
  if (!winningCost) winner.tactic = tactics.front();
  const ChosenTactic chosen = winner.kernel != nullptr ? ChosenTactic{winner.tactic, winner.kernel}
                                                       : TRY(take(backend, request, winner.tactic));
  if (winner.time && m_cache != nullptr) {
    const KernelTime time = confirmed(request, chosen, *winner.time);
    const std::string key = timingKey(region, chosen.tactic, context);
    if (time.spread < winner.time->spread) m_cache->store(key, measurementOf(m_times[key] = time));
    storeRegion(request, region, context, time);
  }
  note(request, winner.tactic.name, winningCost && !measuredHere, std::move(times));
  return chosen;
}

void TacticChooser::noteRegion(const KernelRequest& request, const std::string& region) {
  ++m_report->regions;
  std::vector<std::string>& equals = m_regions[region];
  if (equals.empty()) {
    ++m_report->distinct;
  } else {
    m_report->decisions.push_back(
        decide("cache.same_structure", {subjectOf(*request.fused)}, "fingerprint", {{"first", equals.front()}}));
  }
  equals.push_back(nameOf(*request.fused));
}

double TacticChooser::conversionMs(const Backend& backend, const TensorDesc& from, const TensorDesc& to) {
  return from == to ? 0 : measuredConversion(backend, from, to);
}

double TacticChooser::measuredConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to) {
  if (backend.emulatesConversion(from, to)) return 0;
  const TimingContext context = timingContext(backend, m_options.threads);
  const std::string key = conversionTimeKey(from, to, context);
  const auto [entry, isNew] = m_conversions.emplace(key, 0.0);
  if (!isNew) return entry->second;
  const auto known = m_cache != nullptr ? m_cache->find(key) : std::nullopt;
  if (known) entry->second = known->ms;
  if (known && known->spread <= kConfidentSpread) return known->ms;
  const auto kernel = m_kernels->conversion(backend, from, to, m_options.threads);
  if (!kernel.ok()) return entry->second;
  const auto time = measureKernel(*kernel.value(), std::span(&from, 1), std::span(&to, 1), std::nullopt);
  if (!time || (known && known->spread <= time->spread)) return entry->second;
  if (m_cache != nullptr) storeConversion(key, from, to, context, *time);
  return entry->second = time->ms;
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
  const bool isMeasured = m_cache != nullptr && !m_quiet && m_options.backend != kReference;
  if (isMeasured && isPlainConversion(from, to)) measuredConversion(backend, from, to);
}

Result<std::vector<Tactic>> TacticChooser::withinWorkspace(const Backend& backend, const KernelRequest& request,
                                                           const std::vector<Tactic>& tactics) {
  const std::int64_t limit = m_plan->options.workspaceBytes;
  if (limit == 0) return tactics;
  std::optional<std::int64_t> least;  // that a kernel of ours needs, of those that need too much
  std::vector<Tactic> kept;
  bool isOurs = false;  // something else than the reference is kept
  for (const Tactic& tactic : tactics) {
    TRY(checkStop(m_options.stop));
    const auto code = m_kernels->code(backend, request, tactic);
    const std::int64_t needed = code.ok() ? static_cast<std::int64_t>(code.value()->workspaceBytes()) : 0;
    if (needed <= limit) {
      kept.push_back(tactic);
      isOurs = isOurs || (tactic.name != kReference && code.ok());
      continue;
    }
    least = std::min(least.value_or(needed), needed);
    if (m_quiet) continue;
    m_report->decisions.push_back(decide("tactic.workspace", {subjectOf(*request.fused)}, "workspace",
                                         {{"tactic", tactic.name}, {"bytes", needed}, {"limit", limit}}));
  }
  // The reference is no way out: it takes seconds, and what it allocates while it runs has no limit.
  if (least && !isOurs) return tooLittleWorkspace(request.fused->name, *least, limit);
  return kept;
}

}  // namespace fusescope
