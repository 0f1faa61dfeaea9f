#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "ir/tensor_type.h"
#include "planning/prices/price.h"

namespace fusescope {

struct Plan;

/// Returns prices of kernels and conversions. It is implemented over the timing cache. Thread-safe.
class PriceModel {
 public:
  virtual ~PriceModel() = default;
  /// Returns one price for each fused node of `plan`, in their order, at the usual extents of its inputs
  /// (InputSpec::opt).
  virtual std::vector<Price> kernels(const Plan& plan) const = 0;
  /// Does the same for other extents of the inputs, by name. A price is unknown if only the usual extents were
  /// measured.
  virtual std::vector<Price> kernelsAt(const Plan& plan, const std::map<std::string, Dims>& extents) const;
  /// Returns the price of a step that converts a plain tensor of `elements` elements.
  virtual Price conversion(DataType from, DataType to, std::int64_t elements) const = 0;
};

}  // namespace fusescope
