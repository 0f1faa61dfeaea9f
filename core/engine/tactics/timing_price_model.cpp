#include "engine/tactics/timing_price_model.h"

#include <algorithm>

#include "backends/reference/reference_backend.h"
#include "backends/reference/reference_nodes.h"
#include "backends/threads.h"
#include "engine/kernels/input_check.h"
#include "engine/program/boxed_values.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

std::string placeText(int threads) {
  return "this machine, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

/// Returns which costs of a range apply if these extents are the minimum or the maximum of the plan's inputs.
CostAt CostRange::*costsAt(const Plan& plan, const std::map<std::string, Dims>& extents) {
  const Structure& structure = *plan.structure;
  if (structure.least != nullptr && structure.least->ofInputs() == extents) return &CostRange::least;
  return structure.most != nullptr && structure.most->ofInputs() == extents ? &CostRange::most : nullptr;
}

/// Returns whether one of our kernels runs it. If no float is narrow, every tactic is real, so that none has to be
/// searched.
bool isReal(const Backend& backend, const KernelRequest& request) {
  if (!isEmulated(*request.plan, *request.fused)) return true;
  return std::ranges::any_of(backend.tactics(request), [](const Tactic& tactic) { return !tactic.numerics.emulated; });
}

}  // namespace

TimingPriceModel::TimingPriceModel(std::shared_ptr<const TimingCache> cache, const Backend& backend, int threads)
    : m_cache(std::move(cache)), m_backend(backend), m_threads(threads > 0 ? threads : hardwareThreads()) {}

Price TimingPriceModel::fitted(const Workload& workload) const {
  const std::lock_guard lock(m_mutex);
  auto [entry, isNew] = m_fits.try_emplace(workload.series);
  if (isNew) entry->second = fitPrices(m_cache->series(workload.series));
  if (!entry->second) return {};
  const PriceFit& fit = *entry->second;
  const auto ms = fit.at(workload.work, workload.traffic);
  if (!ms) return {};
  return {.ms = ms,
          .how = PriceSource::Fitted,
          .spread = fit.error,
          .from = placeText(m_threads) + ", fitted to " + std::to_string(fit.samples) + " measurements"};
}

std::optional<Price> TimingPriceModel::measured(const std::optional<Measurement>& found) const {
  if (!found || found->spread > kConfidentSpread) return std::nullopt;
  return Price{.ms = found->ms,
               .how = PriceSource::Measured,
               .spread = found->spread,
               .from = placeText(m_threads) + ", " + found->day};
}

const std::optional<Measurement>& TimingPriceModel::timeOf(const std::string& region, const TimingContext& context,
                                                           Found& found) const {
  const auto [entry, isNew] = found.try_emplace(regionTimeKey(region, context));
  if (isNew) entry->second = m_cache->find(entry->first);
  return entry->second;
}

std::optional<Price> TimingPriceModel::mixed(const Backend& backend, const KernelRequest& request,
                                             const std::string& region, const TimingContext& context,
                                             Found& found) const {
  const auto kernel = pureKernelOf(request, region);
  const auto pure = kernel ? measured(timeOf(kernel->region, context, found)) : std::nullopt;
  if (!pure) return std::nullopt;
  const bool asOne = runsAsOne(backend, request);
  const Price learnt = fitted(mixedWorkload(request, *pure->ms, kernel->foreignBytes, asOne, context));
  if (learnt.ms || !asOne) return learnt;
  return Price{.ms = pure->ms,
               .how = PriceSource::Fitted,
               .spread = kMostFitError,
               .from = pure->from + ", of the same kernel in " + std::string(name(request.fused->compute)) + " alone"};
}

Price TimingPriceModel::priceOf(const Plan& plan, const KernelRequests& requests, const FusedNode& fused,
                                Found& found) const {
  if (whyDynamic(plan.graph(), requests.types(), fused)) return {};
  if (requests.view(fused)) {
    const FusedOutput& output = fused.outputs.front();
    // Without a step there is nothing to measure and nothing unknown. In a body, even an output is read in place.
    if (!plan.graph().isOutput(output.value) || plan.model->isBody)
      return {.ms = 0.0, .how = PriceSource::Measured, .from = "a view needs no step"};
    const auto dims = requests.dimsOf(output.value);
    const auto elements = dims.ok() ? elementCount(dims.value()) : std::nullopt;
    return elements ? conversion(output.type, output.type, *elements) : Price();
  }
  const auto request = requests.of(fused);
  if (!request.ok()) return {};
  const Backend& backend = plan.inFallback(fused) ? referenceBackend() : m_backend;
  if (!isReal(backend, request.value())) return {};
  const TimingContext context = timingContext(plan, backend, m_threads);
  const std::string region = regionKey(request.value());
  if (const auto price = measured(timeOf(region, context, found))) return *price;
  if (const auto price = mixed(backend, request.value(), region, context, found)) return *price;
  const auto workload = regionWorkload(request.value(), context);
  return workload ? fitted(*workload) : Price();
}

std::vector<Price> TimingPriceModel::kernels(const Plan& plan) const {
  const auto extents = buildExtents(plan, {});
  return extents.ok() ? kernelsAt(plan, extents.value()) : std::vector<Price>(plan.fusedNodes.size());
}

std::vector<Price> TimingPriceModel::kernelsAt(const Plan& plan, const std::map<std::string, Dims>& extents) const {
  std::vector<Price> prices(plan.fusedNodes.size());
  if (plan.target.planningOnly || m_cache->size() == 0) return prices;
  const auto requests = KernelRequests::create(plan, extents, m_threads);
  if (!requests.ok()) return prices;
  const auto at = costsAt(plan, extents);
  Found found;
  for (const FusedNode& fused : plan.fusedNodes) {
    if (at == nullptr || !fused.range) {
      prices[fused.id.index] = priceOf(plan, requests.value(), fused, found);
      continue;
    }
    FusedNode there = fused;
    there.flops = ((*fused.range).*at).flops;
    there.bytes = ((*fused.range).*at).bytes;
    prices[fused.id.index] = priceOf(plan, requests.value(), there, found);
  }
  return prices;
}

Price TimingPriceModel::conversion(DataType from, DataType to, std::int64_t elements) const {
  const TensorDesc source{from, {elements}}, target{to, {elements}};
  if (m_backend.emulatesConversion(source, target)) return {};
  const TimingContext context = timingContext(m_backend, m_threads);
  const auto price = measured(m_cache->find(conversionTimeKey(source, target, context)));
  return price ? *price : fitted(conversionWorkload(from, to, elements, context));
}

std::unique_ptr<PriceModel> openPriceModel(const std::filesystem::path& timingCache, std::string_view backend,
                                           int threads) {
  const Backend* found = findBackend(backend);
  std::error_code error;
  if (found == nullptr || !std::filesystem::exists(timingCache, error)) return nullptr;
  auto cache = TimingCache::openKnown(timingCache);
  if (!cache.ok()) return nullptr;
  return std::make_unique<TimingPriceModel>(std::move(cache).value(), *found, threads);
}

}  // namespace fusescope
