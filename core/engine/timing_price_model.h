#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cache/timing_cache.h"
#include "engine/kernel_requests.h"
#include "engine/price_fit.h"
#include "engine/region_key.h"

namespace fusescope {

/// Prices by what builds measured on this machine, for a backend and a number of threads. A region or conversion that
/// was measured with confidence has that time. A kernel of mixed floats has one fitted to how others of its kind
/// compare with the same kernel in one type, and where too few of them were measured the time of that kernel, unless it
/// runs node by node for being mixed. Everything else has one fitted to measurements of its series, where they allow
/// it. What the reference emulates has none, and neither has a fused node that is prepared while it runs. What is
/// measured after a series was first asked for does not reach its fit. Thread-safe.
class TimingPriceModel final : public PriceModel {
 public:
  /// `threads` 0: as many as the machine has.
  TimingPriceModel(std::shared_ptr<const TimingCache> cache, const Backend& backend, int threads);
  std::vector<Price> kernels(const Plan& plan) const override;
  std::vector<Price> kernelsAt(const Plan& plan, const std::map<std::string, Dims>& extents) const override;
  Price conversion(DataType from, DataType to, std::int64_t elements) const override;

 private:
  /// What the cache has of keys that were asked for: most kernels of a large network are like many others.
  using Found = std::unordered_map<std::string, std::optional<Measurement>>;
  Price priceOf(const Plan& plan, const KernelRequests& requests, const FusedNode& fused, Found& found) const;
  std::optional<Price> measured(const std::optional<Measurement>& found) const;
  const std::optional<Measurement>& timeOf(const std::string& region, const TimingContext& context, Found& found) const;
  std::optional<Price> mixed(const Backend& backend, const KernelRequest& request, const std::string& region,
                             const TimingContext& context, Found& found) const;
  Price fitted(const Workload& workload) const;

  std::shared_ptr<const TimingCache> m_cache;
  const Backend& m_backend;
  int m_threads;
  mutable std::mutex m_mutex;
  mutable std::map<std::string, std::optional<PriceFit>> m_fits;  ///< by series
};

/// Over the timing cache in a file; null where there is none, or it cannot be opened: then nothing is predicted.
std::unique_ptr<PriceModel> openPriceModel(const std::filesystem::path& timingCache, std::string_view backend,
                                           int threads = 0);

}  // namespace fusescope
