#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"
#include "base/stop.h"

namespace fusescope {

/// The highest throughput in one type that our own kernels reached on this machine. It is not a hardware limit but what
/// another kernel may hope to reach. A value is absent if none of our kernels runs the type here, so that the reference
/// emulates it.
struct TypePeak {
  DataType type = DataType::Undefined;
  std::optional<double> operationsPerSecond;  ///< of a product of square matrices; a multiplication and an addition
                                              ///< count as two operations
  std::optional<double> bytesPerSecond;       ///< bytes read and written by a pass over tensors that are larger than
                                              ///< the caches
  std::optional<double> cachedPerSecond;      ///< the same for small tensors, which stay in the caches
  std::string day;                            ///< the day of the measurement, as "2026-01-31"
  bool quiet = true;                          ///< nothing else used the machine
};

/// The peaks for one number of threads.
struct MachinePeaks {
  int threads = 0;
  std::vector<TypePeak> types;
  const TypePeak* find(DataType type) const;  ///< returns null if the type was not measured
  /// Returns the shortest possible time in milliseconds for the work of a kernel at these peaks (the roofline model:
  /// Williams, Waterman and Patterson, 2009). The kernel calculates in `compute` and moves `bytes`. Returns nothing if
  /// one of them is unknown. A kernel that moves less than 8 MiB is assumed to find its data in the caches.
  std::optional<double> leastMs(DataType compute, std::optional<std::int64_t> flops,
                                std::optional<std::int64_t> bytes) const;
};

struct PeakOptions {
  int threads = 0;                    ///< 0: as many as the machine has
  double seconds = 0.3;               ///< for each measurement
  std::filesystem::path timingCache;  ///< the file in which the result is kept for knownPeaks(); empty: it is not kept
  StopToken stop{};
  Progress progress{};
};
/// Measures f32, bf16, f16 and int8. Errors: cancellation.
Result<MachinePeaks> measurePeaks(const PeakOptions& options);
/// Returns what measurePeaks() kept for this machine (by its fingerprint) and this number of threads; nothing if it was
/// never measured.
std::optional<MachinePeaks> knownPeaks(const std::filesystem::path& timingCache, int threads);

}  // namespace fusescope
