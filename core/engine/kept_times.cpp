#include "engine/kept_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/reference/reference_backend.h"
#include "backends/threads.h"
#include "base/text.h"
#include "cache/timing_cache.h"
#include "engine/kernels/input_check.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/plan_backend.h"
#include "engine/kernels/region_key.h"
#include "engine/steps/plan_tactics.h"

namespace fusescope {
namespace {

class KeptTimes {
 public:
  KeptTimes(const Plan& plan, const BuildOptions& options) : m_plan(plan), m_options(options) {}

  Result<std::vector<KeptRegion>> run() {
    std::error_code unknown;
    if (std::filesystem::exists(m_options.timingCache, unknown))
      m_cache = TRY(TimingCache::openKnown(m_options.timingCache));
    const auto extents = TRY(buildExtents(m_plan, m_options.shapes));
    const KernelRequests requests = TRY(KernelRequests::create(m_plan, extents, m_options.threads));
    BuildReport report;
    auto chooser = TRY(TacticChooser::create(m_plan, m_options, report, {}));
    const auto planned =
        TRY(planTactics({.plan = &m_plan, .requests = &requests, .outputs = {}, .stop = m_options.stop}, chooser));
    for (const FusedNode& fused : m_plan.fusedNodes)
      if (const auto tactic = planned.find(fused.id); tactic != planned.end()) add(tactic->second);
    if (m_cache != nullptr) compareNearest();
    return std::move(m_regions);
  }

 private:
  void add(const PlannedTactic& planned) {
    const TacticWays& ways = planned.ways;
    const auto [entry, isNew] = m_places.try_emplace(ways.region, m_regions.size());
    if (!isNew) {
      if (entry->second < m_regions.size()) ++m_regions[entry->second].equal;
      return;
    }
    const Backend& backend = backendOf(m_plan, *planned.request.fused);
    const TimingContext context = timingContext(m_plan, backend, planned.request.threads);
    KeptRegion region{.name = planned.request.fused->name};
    std::vector<std::string> tactics;
    for (const Tactic& tactic : ways.tactics) {
      if (tactic.numerics.emulated || tactic.backend == kReferenceBackend) continue;
      ++region.tactics;
      tactics.push_back(tactic.name);
      if (ways.isComparable) region.timed += note(timingKey(ways.region, tactic, context), region) ? 1 : 0;
    }
    const bool isMeasured = ways.isComparable || ways.tactics.size() == 1;
    if (region.tactics == 0 || !isMeasured) {  // it runs as a directive asks, or is emulated
      entry->second = SIZE_MAX;
      return;
    }
    const bool isRegionTimed = region.timed < region.tactics && note(regionTimeKey(ways.region, context), region);
    if (isRegionTimed && region.tactics == 1) region.timed = 1;
    region.isOnlyChosen = isRegionTimed && region.tactics > 1;
    m_wanted.push_back({.region = ways.region, .context = context, .tactics = std::move(tactics)});
    m_regions.push_back(std::move(region));
  }

  /// Returns whether a time of this key is kept, and notes in `region` when it was measured.
  bool note(const std::string& key, KeptRegion& region) const {
    const auto known = m_cache == nullptr ? std::nullopt : m_cache->find(key);
    if (!known) return false;
    if (region.firstDay.empty() || known->day < region.firstDay) region.firstDay = known->day;
    region.lastDay = std::max(region.lastDay, known->day);
    return true;
  }

  /// Looks for the nearest times of the regions of which none is kept.
  void compareNearest() {
    const auto isWanted = [](const KeptRegion& region) { return region.timed == 0 && !region.isOnlyChosen; };
    if (std::ranges::none_of(m_regions, isWanted)) return;
    NearestTimes nearest;
    m_cache->forEach([&](std::string_view key, const Measurement&) { nearest.add(key); });
    for (std::size_t i = 0; i < m_regions.size(); ++i)
      if (isWanted(m_regions[i])) m_regions[i].differs = nearest.differencesFrom(m_wanted[i]);
  }

  const Plan& m_plan;
  const BuildOptions& m_options;
  std::shared_ptr<TimingCache> m_cache;  ///< null: nothing is kept
  std::vector<KeptRegion> m_regions;
  std::vector<WantedTimes> m_wanted;  ///< of each region
  /// The place of a region in m_regions by its key; SIZE_MAX: nothing of it is measured.
  std::map<std::string, std::size_t, std::less<>> m_places;
};

}  // namespace

Result<std::vector<KeptRegion>> keptTimes(const std::shared_ptr<const Plan>& plan, const BuildOptions& options) {
  BuildOptions asked = options;
  asked.threads = options.threads > 0 ? options.threads : hardwareThreads();
  asked.effortSeconds = 0;  // nothing is measured
  asked.memory = nullptr;
  std::error_code unknown;
  if (!std::filesystem::exists(asked.timingCache, unknown)) asked.timingCache.clear();
  if (plan->target.planningOnly || findBackend(plan->target.acceleratedBackend) == nullptr)
    return Diagnostic{.message = "target " + plan->target.name + " is only planned for here, so that nothing is timed"};
  return KeptTimes(*planRunBy(plan, options.backend), asked).run();
}

namespace {

/// The most characters of a difference that is told in full.
constexpr std::size_t kLongestPart = 60;

}  // namespace

std::string keptText(const KeptRegion& region) {
  if (region.isOnlyChosen) return "the chosen tactic alone";
  if (region.timed > 0) return fmt::format("{} of {}", region.timed, counted(region.tactics, "tactic"));
  if (region.differs.empty()) return "not kept, and nothing similar is";
  std::vector<std::string> fields;
  for (const TimeDifference& each : region.differs)
    fields.push_back(each.here.size() + each.nearest.size() <= kLongestPart
                         ? fmt::format("{} {} instead of {}", each.field, each.here, each.nearest)
                         : "other " + each.field);
  return "not kept; the nearest: " + joined(fields);
}

}  // namespace fusescope
