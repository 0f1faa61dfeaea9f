#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "cache/timing_cache.h"

namespace fusescope {

/// Returns canonical bytes of what a kernel for `request` computes, without weights and formats: operators, attributes,
/// connections, types, extents, values written to memory, structural constants. Equal regions of a network have equal
/// keys.
std::string regionKey(const KernelRequest& request);

/// The first field of keys of times. The version in it is increased when stored times must no longer be used.
inline constexpr std::string_view kTacticTimeKey = "fusescope.timing.2", kRegionTimeKey = "fusescope.region_time.2",
                                  kMixedTimeKey = "fusescope.mixed_time.1",
                                  kConversionTimeKey = "fusescope.conversion_time.2";

/// Everything that a measured time depends on in addition to the kernel.
struct TimingContext {
  std::string fingerprint;  ///< the fingerprint of the backend on this machine
  std::string backend;      ///< the name of the backend
  int threads = 1;
  std::int64_t workspaceBytes = 0;  ///< limits the tactics that a build chooses from; 0: no limit
};
/// Returns the context in which kernels for `plan` are measured on this backend.
TimingContext timingContext(const Plan& plan, const Backend& backend, int threads);
/// Returns the context of measurements that do not depend on the options of a plan.
TimingContext timingContext(const Backend& backend, int threads);
/// Returns the key for the time of a region in a timing cache, which is the time of the tactic that a build chose for
/// it.
std::string regionTimeKey(const std::string& regionKey, const TimingContext& context);
/// Returns the key for the time of one tactic in a timing cache.
std::string timingKey(const std::string& regionKey, const Tactic& tactic, const TimingContext& context);
/// Returns the key for the time of a conversion.
std::string conversionTimeKey(const TensorDesc& from, const TensorDesc& to, const TimingContext& context);

/// Returns the amount of work of a region. It is in one series with the regions that its time may be predicted from,
/// which have the same kind and compute type. Returns nothing if an extent depends on data.
std::optional<Workload> regionWorkload(const KernelRequest& request, const TimingContext& context);
/// For a kernel whose floats have several types: the same kernel with all floats stored and calculated in its compute
/// type.
struct PureKernel {
  std::string region;       ///< the key of its region
  double foreignBytes = 0;  ///< bytes that the mixed kernel reads and writes in another type
};
/// Returns nothing for a kernel whose floats all have one type. `region` is regionKey(request).
std::optional<PureKernel> pureKernelOf(const KernelRequest& request, const std::string& region);
/// Returns the key for the time of a kernel of mixed floats among the samples of its kind.
std::string mixedTimeKey(const std::string& regionKey, const TimingContext& context);
/// Returns the amount of work of a kernel of mixed floats: its work is the time of the pure kernel in milliseconds, its
/// traffic the bytes in other types. It is in one series with the mixed kernels of its kind; those that no single
/// kernel runs (`asOne` is false, see runsAsOne()) are a separate series.
Workload mixedWorkload(const KernelRequest& request, double pureMs, double foreignBytes, bool asOne,
                       const TimingContext& context);
/// Returns whether `backend` has one kernel for the whole request, and not only one for each of its nodes.
bool runsAsOne(const Backend& backend, const KernelRequest& request);
/// Returns the amount of work of a conversion between types; its traffic counts elements.
Workload conversionWorkload(DataType from, DataType to, std::int64_t elements, const TimingContext& context);

}  // namespace fusescope
