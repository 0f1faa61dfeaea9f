#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/backend.h"
#include "cache/timing_cache.h"

namespace fusescope {

/// Canonical bytes of what a kernel for `request` computes, up to its weights and without formats: operators,
/// attributes, wiring, types, extents, real edges, structural constants. Equal regions of a network have equal keys.
std::string regionKey(const KernelRequest& request);

/// What a measured time depends on besides the kernel.
struct TimingContext {
  std::string fingerprint;  ///< of the backend, here
  std::string backend;      ///< its name
  int threads = 1;
  std::int64_t workspaceBytes = 0;  ///< limits which tactics a build chooses among; 0: no limit
};
/// Where a kernel for `plan` on this backend is measured.
TimingContext timingContext(const Plan& plan, const Backend& backend, int threads);
/// The same for what no plan's options bear on.
TimingContext timingContext(const Backend& backend, int threads);
/// The key of a region's time in a timing cache: that of the tactic which a build chose for it.
std::string regionTimeKey(const std::string& regionKey, const TimingContext& context);
/// The key of one tactic's time in a timing cache.
std::string timingKey(const std::string& regionKey, const Tactic& tactic, const TimingContext& context);
/// The key of the time of a conversion.
std::string conversionTimeKey(const TensorDesc& from, const TensorDesc& to, const TimingContext& context);

/// What a region has to do, in one series with the regions that its time may be predicted from: of its kind and compute
/// type. Nothing where an extent depends on data.
std::optional<Workload> regionWorkload(const KernelRequest& request, const TimingContext& context);
/// A kernel of mixed floats beside the same kernel where all floats stand and are calculated in what it calculates in.
struct PureKernel {
  std::string region;       ///< its key
  double foreignBytes = 0;  ///< of what the mixed kernel reads and writes in another type
};
/// Nothing for a kernel whose floats are of one type. `region`: regionKey(request).
std::optional<PureKernel> pureKernelOf(const KernelRequest& request, const std::string& region);
/// The key of what a kernel of mixed floats adds to the samples of its kind.
std::string mixedTimeKey(const std::string& regionKey, const TimingContext& context);
/// What a kernel of mixed floats has to do: work is the milliseconds of the pure kernel, traffic its foreign bytes. In
/// one series with those of its kind; those that no kernel runs as one (runsAsOne()) are a series of their own.
Workload mixedWorkload(const KernelRequest& request, double pureMs, double foreignBytes, bool asOne,
                       const TimingContext& context);
/// Whether `backend` has a real kernel for all of the request, not only one for each of its nodes.
bool runsAsOne(const Backend& backend, const KernelRequest& request);
/// What a conversion between types has to do; its traffic counts elements.
Workload conversionWorkload(DataType from, DataType to, std::int64_t elements, const TimingContext& context);

}  // namespace fusescope
