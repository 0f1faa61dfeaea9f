#include "engine/tactics/tactic_chooser.h"

#include <algorithm>
#include <functional>

#include "backends/reference/reference_backend.h"
#include "base/json.h"
#include "base/name_hints.h"
#include "cache/process_store.h"
#include "engine/kernels/contract_numerics.h"
#include "engine/kernels/plan_backend.h"
#include "engine/kernels/region_key_fields.h"
#include "engine/kernels/workspace.h"
#include "engine/tactics/tactic_selection.h"
#include "planning/directives/directive_form.h"
#include "planning/patterns/match_pattern.h"

namespace fusescope {
namespace {

// Share of a program's time that firm choices may cost, as far as times of kernels that were measured alone tell it.
// They tell no less: densenet121 in nChw16c was 4 % cheaper by their sum than in nhwc, and took 2 % longer.
constexpr double kMostLoss = 0.08;

std::vector<std::string> namesOf(const std::vector<Tactic>& tactics) {
  std::vector<std::string> names;
  for (const Tactic& tactic : tactics) names.push_back(tactic.name);
  return names;
}

/// The tactic that a person or an earlier engine file means.
const Tactic* find(const std::vector<Tactic>& tactics, const std::string& name) {
  const auto found = std::ranges::find_if(tactics, [&](const Tactic& tactic) { return tactic.isCalled(name); });
  return found == tactics.end() ? nullptr : &*found;
}

/// One that was chosen before: an equal one, or of an earlier engine file what it calls so. Earlier files do not say
/// that a tactic flushes.
const Tactic* find(const std::vector<Tactic>& tactics, const FormerTactic& former) {
  if (!former.value) return find(tactics, former.name);
  const auto found = std::ranges::find_if(tactics, [&](const Tactic& tactic) {
    Tactic wanted = *former.value;
    wanted.numerics.flushes = tactic.numerics.flushes;
    return wanted == tactic;
  });
  return found == tactics.end() ? nullptr : &*found;
}

}  // namespace

Hash128 tacticIdentity(const BodyPath& path, const FusedNode& fused) {
  return path.isNetwork() ? fused.identity : hashText(path.of(fused.identity.hex()));
}

Subject TacticChooser::subjectOf(const FusedNode& fused) const {
  return Subject::fusedNode(nameOf(fused), identityOf(fused).hex());
}

Result<TacticChooser> TacticChooser::create(const Plan& plan, const BuildOptions& options, BuildReport& report,
                                            TacticsByIdentity replay) {
  TacticChooser chooser(plan, options, report);
  chooser.m_replay = std::move(replay);
  // The measurer runs kernels in memory of the host.
  if (!acceleratedBackendOf(plan).device().isHost()) chooser.m_options.measureTactics = false;
  TRY(chooser.readDirectives());
  if (options.timingCache.empty() || !chooser.m_options.measureTactics) return chooser;
  auto opened = TimingCache::open(options.timingCache);
  if (!opened.ok()) {
    report.decisions.push_back(decide("cache.unavailable", {}, "timing_cache",
                                      {{"file", options.timingCache.string()}, {"problem", opened.error().message}}));
    return chooser;
  }
  chooser.m_cache = std::move(opened).value();
  chooser.m_cache->shareWith(sharedTimesOfProcess(timesGroup));
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

Result<TacticChooser*> TacticChooser::ofBody(const Plan& body, const BodyPathStep& step) {
  std::unique_ptr<TacticChooser>& entry = m_bodies[&body];
  if (entry != nullptr) return entry.get();
  std::unique_ptr<TacticChooser> chooser(new TacticChooser(body, m_options, *m_report));
  chooser->m_path = m_path.into(step.holder, step.attribute);
  chooser->m_cache = m_cache;
  chooser->m_loweringMutex = m_loweringMutex;
  chooser->m_quiet = m_quiet;
  chooser->m_budget = m_budget;
  chooser->m_effort = m_effort;
  chooser->m_prefers = m_prefers;
  chooser->m_isBrief = m_isBrief;
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

void TacticChooser::note(const KernelRequest& request, const TacticWays& ways, std::size_t way,
                         std::optional<double> onlyTime) {
  const Tactic& chosen = ways.tactics[way];
  m_choices[identityOf(*request.fused)] = {chosen.name, chosen};
  if (m_quiet) return;
  std::vector<TacticTime> times;
  for (std::size_t i = 0; i < ways.tactics.size(); ++i) {
    const std::optional<double> alone = i == way ? onlyTime : std::nullopt;
    times.push_back({ways.tactics[i].name, ways.times[i] ? std::optional(ways.times[i]->ms) : alone});
  }
  // The time of a kernel that was not compared with others is measured alone, once for equal regions.
  const bool isKnownBefore =
      onlyTime ? !m_measuredRegions.contains(ways.region) : (ways.isMeasured || ways.times[way]) && !ways.measuredHere;
  m_report->tactics.push_back({nameOf(*request.fused), identityOf(*request.fused), chosen.name, chosen, isKnownBefore,
                               std::move(times), ways.left});
}

void TacticChooser::chooseAtLength(double times) {
  m_prefers = false;
  m_budget.msEach *= times;
  m_budget.mostRounds = static_cast<int>(m_budget.mostRounds * times);
  m_budget.precision /= times;
  m_budget.leastGain = 0;
  m_effort->measureAll();
}

void TacticChooser::measureBriefly() {
  m_isBrief = true;
  m_budget = kBrief;
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
  const Cause by = causeOf(*directive);
  if (tactic != nullptr) {
    m_report->decisions.push_back(decide("tactic.pinned", subjects, by, {{"tactic", directive->rule}}));
  } else if (find(offered, directive->rule) ==
             nullptr) {  // else the contract or the workspace refused it, and that was told
    m_report->decisions.push_back(
        decide("tactic.unknown", subjects, by, {{"tactic", directive->rule}, {"known", listed(namesOf(tactics))}}));
  }
  return tactic;
}

const Tactic* TacticChooser::replayed(const KernelRequest& request, const std::vector<Tactic>& tactics) {
  const auto wanted = m_replay.find(identityOf(*request.fused));
  if (wanted == m_replay.end()) return nullptr;
  const Tactic* tactic = find(tactics, wanted->second);
  if (tactic != nullptr || m_quiet) return tactic;
  m_report->decisions.push_back(
      decide("tactic.missing", {subjectOf(*request.fused)}, "replay", {{"tactic", wanted->second.name}}));
  return nullptr;
}

/// What the backend offers: asked once for equal regions, which have equal tactics.
const std::vector<Tactic>& TacticChooser::offered(const Backend& backend, const KernelRequest& request,
                                                  const TacticWays& ways) {
  KeyBuilder key;
  key.text(backend.name()).text(ways.region);
  for (const ValueId input : request.fused->inputs)
    for (const std::int64_t extent : request.values.at(input).dims) key.number(extent);
  for (const MemoryFormat& format : request.formats) key.text(format.text());
  BuildMemory::Tactics& tactics = m_offered[key.canonical()];
  if (tactics == nullptr && memory() != nullptr) tactics = memory()->tactics(ways.request);
  if (tactics == nullptr) {
    tactics = std::make_shared<const std::vector<Tactic>>(backend.tactics(request));
    if (memory() != nullptr) memory()->keepTactics(ways.request, tactics);
  }
  return *tactics;
}

Result<TacticWays> TacticChooser::ways(const Backend& backend, const KernelRequest& request) {
  TacticWays ways{.region = regionKey(request)};
  if (memory() != nullptr) ways.request = requestKey(backend, request, ways.region);
  const std::vector<Tactic>& all = offered(backend, request, ways);
  if (all.empty())
    return Diagnostic{.message = "the " + std::string(backend.name()) + " backend has no way to run it",
                      .where = {.node = request.fused->name}};
  ways.tactics = TRY(withinWorkspace(backend, request, TRY(withinContract(backend, request, all))));
  ways.times.resize(ways.tactics.size());
  ways.costs.resize(ways.tactics.size());
  if (!m_quiet) noteRegion(request, ways.region);
  const Tactic* fixed = asked(request, ways.tactics, all);
  if (fixed == nullptr) fixed = replayed(request, ways.tactics);
  if (fixed != nullptr) {
    ways.costs[static_cast<std::size_t>(fixed - ways.tactics.data())] = TacticCost();
  } else if (ways.tactics.size() == 1 || !m_options.measureTactics || ways.tactics.front().numerics.emulated) {
    ways.costs = costsUnmeasured(ways.tactics);
  } else {
    ways.isComparable = true;
    refresh(backend, request, ways);
    ways.costs = ways.open.empty() ? costsOf(ways.tactics, ways.times, m_prefers ? kGainWorthTaking : 0)
                                   : costsUnmeasured(ways.tactics);
  }
  return ways;
}

/// What is known of a region that was left must include the backend's first guess: else it is compared with nothing.
void TacticChooser::price(TacticWays& ways) const {
  if (!ways.isComparable) return;
  ways.isMeasured = ways.left == LeftUnmeasured::No || ways.times.front().has_value();
  ways.costs = ways.isMeasured ? costsOf(ways.tactics, ways.times, m_prefers ? kGainWorthTaking : 0)
                               : costsUnmeasured(ways.tactics, ways.likelyMs);
}

void TacticChooser::count(const Backend& backend, const KernelRequest& request, TacticWays& ways) {
  if (!ways.isComparable) return;
  const TimingContext context = timingContext(*m_plan, backend, request.threads);
  keepDistinguishedTimes(context, ways);
  for (std::size_t i = 0; i < ways.tactics.size(); ++i) {
    const std::string key = timingKey(ways.region, ways.tactics[i], context);
    const auto time = m_times.find(key);
    if (time == m_times.end()) continue;
    ways.times[i] = time->second;
    ways.measuredHere = ways.measuredHere || m_measuredHere.contains(key);
  }
  price(ways);
}

Result<ChosenTactic> TacticChooser::take(const Backend& backend, const KernelRequest& request, const TacticWays& ways,
                                         std::size_t way) {
  std::shared_ptr<const Kernel> kernel;
  way = TRY(thatCanBePrepared(backend, request, ways, way, kernel));
  const Tactic& tactic = ways.tactics[way];
  ChosenTactic chosen{tactic, std::move(kernel)};
  std::optional<double> alone;
  if (ways.tactics.size() == 1 || (ways.left == LeftUnmeasured::BelowNoise && !ways.times[way])) {
    alone = TRY(onlyTime(backend, request, ways.region, chosen));
  } else if (ways.isMeasured && ways.times[way] && m_cache != nullptr && !m_quiet && !m_isBrief) {
    storeRegion(backend, request, ways.region, timingContext(*m_plan, backend, request.threads), *ways.times[way]);
  }
  if (ways.isMeasured && tactic.implementation == kUnfused && !m_quiet) noteUnfused(request, ways, way);
  note(request, ways, way, alone);
  noteOrigin(ways);
  return chosen;
}

Result<std::size_t> TacticChooser::thatCanBePrepared(const Backend& backend, const KernelRequest& request,
                                                     const TacticWays& ways, std::size_t wanted,
                                                     std::shared_ptr<const Kernel>& kernel) {
  bool isCompiled = false;
  auto first = kernels().kernel(backend, request, ways.tactics[wanted], &isCompiled);
  if (isCompiled) m_compiledRegions.insert(ways.region);
  if (first.ok()) {
    kernel = std::move(first).value();
    return wanted;
  }
  for (std::size_t way = 0; way < ways.tactics.size() && !first.error().cancelled; ++way) {
    TRY(checkStop(m_options.stop));
    if (way == wanted) continue;
    auto other = kernels().kernel(backend, request, ways.tactics[way], &isCompiled);
    if (!other.ok()) continue;
    if (isCompiled) m_compiledRegions.insert(ways.region);
    kernel = std::move(other).value();
    if (!m_quiet)
      m_report->decisions.push_back(decide("tactic.failed", {subjectOf(*request.fused)}, "build",
                                           {{"tactic", ways.tactics[wanted].name},
                                            {"problem", first.error().message},
                                            {"instead", ways.tactics[way].name}}));
    return way;
  }
  return std::move(first).error();
}

/// Whether anything of the region was done in this build, or an earlier one did it all.
void TacticChooser::noteOrigin(const TacticWays& ways) {
  if (m_quiet) return;
  if (ways.measuredHere) m_measuredRegions.insert(ways.region);
  const bool isNew = m_compiledRegions.contains(ways.region) || m_measuredRegions.contains(ways.region);
  const bool isTakenOver = !isNew && memory() != nullptr && memory()->wasBuilt(ways.request);
  m_report->tactics.back().takenOver = isTakenOver;
  if (isTakenOver) ++m_report->takenOver;
  m_built.insert(ways.request);
}

void TacticChooser::endBuild(const std::vector<std::shared_ptr<const Kernel>>& kernels) {
  std::set<std::string> built, compiled, measured;
  const std::function<void(const TacticChooser&)> add = [&](const TacticChooser& chooser) {
    built.insert(chooser.m_built.begin(), chooser.m_built.end());
    compiled.insert(chooser.m_compiledRegions.begin(), chooser.m_compiledRegions.end());
    measured.insert(chooser.m_measuredRegions.begin(), chooser.m_measuredRegions.end());
    for (const auto& [plan, body] : chooser.m_bodies) add(*body);
  };
  add(*this);
  m_report->compiled = static_cast<std::int64_t>(compiled.size());
  m_report->measured = static_cast<std::int64_t>(measured.size());
  if (memory() != nullptr) memory()->endBuild(built, kernels);
}

/// The plan says fused, and it runs otherwise: by how much that is faster.
void TacticChooser::noteUnfused(const KernelRequest& request, const TacticWays& ways, std::size_t way) {
  std::optional<double> fused;
  for (std::size_t i = 0; i < ways.tactics.size(); ++i)
    if (ways.times[i] && ways.tactics[i].implementation != kUnfused)
      fused = std::min(fused.value_or(ways.times[i]->ms), ways.times[i]->ms);
  m_report->decisions.push_back(decide("tactic.unfused", {subjectOf(*request.fused)}, "times",
                                       {{"ms", ways.times[way]->ms}, {"fused_ms", fused}}));
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

double TacticChooser::mostLoss() const {
  return m_prefers && m_options.measureTactics ? kMostLoss : 0;
}

Result<std::vector<Tactic>> TacticChooser::withinContract(const Backend& backend, const KernelRequest& request,
                                                          const std::vector<Tactic>& tactics) {
  std::vector<Tactic> kept;
  std::string why;
  for (const Tactic& tactic : tactics) {
    const Numerics broken = beyondContract(*request.plan, *request.fused, tactic.numerics);
    if (broken.exact()) {
      kept.push_back(tactic);
      continue;
    }
    why = broken.text();
    if (m_quiet) continue;
    m_report->decisions.push_back(decide("tactic.inexact", {subjectOf(*request.fused)}, "contract",
                                         {{"tactic", tactic.name}, {"numerics", why}}));
  }
  if (kept.empty())
    return Diagnostic{.message = "the " + std::string(backend.name()) + " backend has no exact way to run it (" + why +
                                 "), and its sums are of integers",
                      .where = {.node = request.fused->name}};
  return kept;
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
    const auto code = kernels().code(backend, request, tactic);
    const std::int64_t needed = code.ok() ? static_cast<std::int64_t>(code.value()->workspaceBytes()) : 0;
    if (needed <= limit) {
      kept.push_back(tactic);
      isOurs = isOurs || (tactic.backend != kReferenceBackend && code.ok());
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
