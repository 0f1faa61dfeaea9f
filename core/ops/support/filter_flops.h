#pragma once

#include "ops/op_schema.h"
#include "ops/support/work.h"

namespace fusescope::ops {

/// Multiply-adds where each of `places` meets all weights of one filter; the filters lie along axis 0 of `weight`.
inline std::int64_t filterFlops(const Dims& places, const Dims& weight) {
  if (weight.empty() || weight[0] == 0) return 0;
  return workOf({2, workOf(places), workOf(std::span(weight).subspan(1))});
}

/// filterFlops() of the first output and input `weight`.
inline FlopsFunction flopsOfFilters(std::size_t weight) {
  return [weight](const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs) -> std::int64_t {
    return inputs.size() <= weight || outputs.empty() ? 0 : filterFlops(outputs[0], inputs[weight]);
  };
}

}  // namespace fusescope::ops
