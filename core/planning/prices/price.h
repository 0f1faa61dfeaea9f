#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// The source of a predicted time.
enum class PriceSource { Measured, Fitted, Unknown };
std::string_view name(PriceSource source);  ///< "measured", "fitted", "unknown"
std::optional<PriceSource> priceSourceFromName(std::string_view name);

/// The time of one run. Something that is emulated has no time, so that its price is unknown.
struct Price {
  std::optional<double> ms;  ///< milliseconds; null exactly if `how` is Unknown
  PriceSource how = PriceSource::Unknown;
  double spread = 0;  ///< relative; measured: spread of the samples, 0 if unknown; fitted: error when left out
  std::string from;   ///< where and when it was measured: "this machine, 2 threads, 2026-11-21"
};

/// The time of a node with bodies according to the plans of its bodies, without the overhead of its own step. For an If
/// it ranges from the fastest to the slowest branch; for a Loop or Scan it is that of all iterations, or of one
/// iteration if their number is unknown.
struct BodyTime {
  double leastMs = 0, mostMs = 0;          ///< they differ only if a branch of an If is unknown
  PriceSource how = PriceSource::Unknown;  ///< Measured if all parts were measured
  double spread = 0;                       ///< relative; see Price
  std::optional<std::int64_t> iterations;  ///< how often a Loop or Scan runs its body, if known
  bool perIteration = false;               ///< the times are of one iteration

  /// Returns whether the times are one number and of the whole node.
  bool single() const { return !perIteration && leastMs == mostMs; }
};

}  // namespace fusescope
