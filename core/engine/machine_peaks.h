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

/// What this machine was seen to do at the most in one type, by kernels of ours. No limit of the hardware's: what
/// another kernel may hope for. Absent: no kernel of ours runs the type here, the reference imitates it.
struct TypePeak {
  DataType type = DataType::Undefined;
  std::optional<double> operationsPerSecond;  ///< of a product of square matrices; a multiplication and a sum are two
  std::optional<double> bytesPerSecond;       ///< read and written by a pass over tensors that no cache holds
  std::optional<double> cachedPerSecond;      ///< the same in bytes over small ones, which stay in the caches
  std::string day;                            ///< "2026-01-31", when it was measured
  bool quiet = true;                          ///< nothing else wanted the machine
};

/// For a number of threads.
struct MachinePeaks {
  int threads = 0;
  std::vector<TypePeak> types;
  const TypePeak* find(DataType type) const;  ///< null: it was not measured
  /// The least time that the work of a kernel took at these peaks (the roofline model: Williams, Waterman and
  /// Patterson, 2009), in milliseconds: it calculates in `compute` and moves `bytes`. Nothing where one of them is
  /// unknown. What moves less than 8 MiB is taken to find it in the caches.
  std::optional<double> leastMs(DataType compute, std::optional<std::int64_t> flops,
                                std::optional<std::int64_t> bytes) const;
};

struct PeakOptions {
  int threads = 0;                    ///< 0: as many as the machine has
  double seconds = 0.3;               ///< for each measurement
  std::filesystem::path timingCache;  ///< where they are kept for knownPeaks(); empty: nowhere
  StopToken stop{};
  Progress progress{};
};
/// Measures f32, bf16, f16 and int8. Errors: cancellation.
Result<MachinePeaks> measurePeaks(const PeakOptions& options);
/// What measurePeaks() kept for this machine, as its fingerprint says, and as many threads; nothing if it never ran.
std::optional<MachinePeaks> knownPeaks(const std::filesystem::path& timingCache, int threads);

}  // namespace fusescope
