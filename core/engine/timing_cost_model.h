#pragma once

#include <memory>

#include "cache/timing_cache.h"
#include "engine/kernel_requests.h"

namespace fusescope {

/// The times that builds measured on this machine, for a backend and a number of threads: a plan is predicted at the
/// usual extents of its inputs (InputSpec::opt). A fused node whose structure was never built here, or whose type is
/// emulated, has no time. Thread-safe.
class TimingCostModel final : public CostModel {
 public:
  /// `threads` 0: as many as the machine has.
  TimingCostModel(std::shared_ptr<const TimingCache> cache, const Backend& backend, int threads);
  std::vector<std::optional<double>> milliseconds(const Plan& plan) const override;

 private:
  std::optional<double> timeOf(const Plan& plan, const KernelRequests& requests, const FusedNode& fused) const;

  std::shared_ptr<const TimingCache> m_cache;
  const Backend& m_backend;
  int m_threads;
};

/// Over the timing cache in a file; null where there is none, or it cannot be opened: then nothing is predicted.
std::unique_ptr<CostModel> openCostModel(const std::filesystem::path& timingCache, std::string_view backend,
                                         int threads = 0);

}  // namespace fusescope
