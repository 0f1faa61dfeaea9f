#pragma once

#include <string>

#include "backends/backend.h"

namespace fusescope {

/// Canonical bytes of what a kernel for `request` computes, up to its weights and without layouts: operators,
/// attributes, wiring, types, extents, real edges, structural constants. Equal regions of a network have equal keys.
std::string regionKey(const KernelRequest& request);

/// What a measured time depends on besides the kernel: machine, threads, versions.
struct TimingContext {
  std::string capabilities;
  std::string backend;  ///< name and version
  int threads = 1;
};
/// Where a kernel for `plan` on this backend is measured: the target's capabilities, versions, threads.
TimingContext timingContext(const Plan& plan, const Backend& backend, int threads);
/// The key of a region's time in a timing cache: that of the tactic which a build chose for it.
std::string regionTimeKey(const std::string& regionKey, const TimingContext& context);
/// The key of one tactic's time in a timing cache.
std::string timingKey(const std::string& regionKey, const Tactic& tactic, const TimingContext& context);

}  // namespace fusescope
