#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "ir/tensor_type.h"

namespace fusescope {

struct Plan;

/// How a predicted time is known.
enum class PriceSource { Measured, Fitted, Unknown };
std::string_view name(PriceSource source);  ///< "measured", "fitted", "unknown"
std::optional<PriceSource> priceSourceFromName(std::string_view name);

/// What running something once takes. What is emulated has none: its price is unknown.
struct Price {
  std::optional<double> ms;  ///< null exactly where `how` is Unknown
  PriceSource how = PriceSource::Unknown;
  double spread = 0;  ///< relative. Measured: of the samples, 0 if not kept. Fitted: error of predictions left out
  std::string from;   ///< where and when: "this machine, 2 threads, 2026-11-21"
};

/// The time of a node with bodies according to the plans of its bodies, without the overhead of its own step. For an If
/// it ranges from the fastest to the slowest branch; for a Loop or Scan it is that of all iterations, or of one
/// iteration if their number is unknown.
struct BodyTime {
  double leastMs = 0, mostMs = 0;          ///< they differ only where an If is, or is in a body
  PriceSource how = PriceSource::Unknown;  ///< measured where all that it consists of was measured
  double spread = 0;                       ///< relative, see Price
  std::optional<std::int64_t> iterations;  ///< of a Loop or Scan
  bool perIteration = false;               ///< the times are of one iteration

  /// Whether it is the time of the node, and one number.
  bool single() const { return !perIteration && leastMs == mostMs; }
};

/// Prices of kernels and conversions. Implemented over the timing cache. Thread-safe.
class PriceModel {
 public:
  virtual ~PriceModel() = default;
  /// One for each fused node of `plan`, in their order, at the usual extents of its inputs (InputSpec::opt).
  virtual std::vector<Price> kernels(const Plan& plan) const = 0;
  /// The same where the inputs have other extents, by name. Unknown where only the usual ones are known.
  virtual std::vector<Price> kernelsAt(const Plan& plan, const std::map<std::string, Dims>& extents) const;
  /// Of a step that converts a plain tensor of `elements` elements.
  virtual Price conversion(DataType from, DataType to, std::int64_t elements) const = 0;
};

}  // namespace fusescope
