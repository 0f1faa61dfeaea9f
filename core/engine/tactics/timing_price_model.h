#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cache/timing_cache.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/region_key.h"
#include "engine/tactics/price_fit.h"
#include "planning/prices/price_model.h"

namespace fusescope {

/// Prices from measurements of builds on this machine, for a backend and a number of threads. A region or conversion
/// that was measured with confidence has its measured time. For a kernel of mixed floats, the price is fitted to how
/// other mixed kernels of its kind compare with the same kernel in one type; if too few of them were measured, it is
/// the time of the kernel in one type, unless the mixed one would run node by node. Everything else has a price that is
/// fitted to the measurements of its series, if there are enough. Emulated kernels and fused nodes that are prepared
/// while they run have no price. A fit does not change when more measurements of its series arrive. Thread-safe.
class TimingPriceModel final : public PriceModel {
 public:
  /// If `threads` is 0, all threads of the machine are used.
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

/// Opens a price model over the timing cache in a file. Returns null if there is none or it cannot be opened; then
/// nothing is predicted.
std::unique_ptr<PriceModel> openPriceModel(const std::filesystem::path& timingCache, std::string_view backend,
                                           int threads = 0);

}  // namespace fusescope
