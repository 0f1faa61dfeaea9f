#include "engine/timing_cost_model.h"

#include "backends/threads.h"
#include "engine/boxed_values.h"
#include "engine/input_check.h"
#include "engine/region_key.h"

namespace fusescope {

TimingCostModel::TimingCostModel(std::shared_ptr<const TimingCache> cache, const Backend& backend, int threads)
    : m_cache(std::move(cache)), m_backend(backend), m_threads(threads > 0 ? threads : hardwareThreads()) {}

std::optional<double> TimingCostModel::timeOf(const Plan& plan, const KernelRequests& requests,
                                              const FusedNode& fused) const {
  if (whyDynamic(plan.graph(), requests.types(), fused)) return std::nullopt;
  if (requests.viewSource(fused)) return 0.0;  // no kernel runs
  const auto request = requests.of(fused);
  if (!request.ok()) return std::nullopt;
  const TimingContext context = timingContext(plan, backendOf(plan, fused, m_backend), m_threads);
  return m_cache->find(regionTimeKey(regionKey(request.value()), context));
}

std::vector<std::optional<double>> TimingCostModel::milliseconds(const Plan& plan) const {
  std::vector<std::optional<double>> times(plan.fusedNodes.size());
  if (plan.target.planningOnly || m_cache->size() == 0) return times;
  const auto extents = buildExtents(plan, {});
  if (!extents.ok()) return times;
  const auto requests = KernelRequests::create(plan, extents.value(), m_threads);
  if (!requests.ok()) return times;
  for (const FusedNode& fused : plan.fusedNodes) times[fused.id.index] = timeOf(plan, requests.value(), fused);
  return times;
}

std::unique_ptr<CostModel> openCostModel(const std::filesystem::path& timingCache, std::string_view backend,
                                         int threads) {
  const Backend* found = findBackend(backend);
  std::error_code error;
  if (found == nullptr || !std::filesystem::exists(timingCache, error)) return nullptr;
  auto cache = TimingCache::open(timingCache);
  if (!cache.ok()) return nullptr;
  return std::make_unique<TimingCostModel>(std::move(cache).value(), *found, threads);
}

}  // namespace fusescope
