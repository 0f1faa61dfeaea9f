#pragma once

#include "ops/op_schema.h"
#include "ops/support/work.h"

namespace fusescope::ops {

/// Returns the operations of a convolution in which each element of `places` is multiplied with all weights of one
/// filter. Filters are along axis 0 of `weight`.
inline std::int64_t filterFlops(const Dims& places, const Dims& weight) {
  if (weight.empty() || weight[0] == 0) return 0;
  return workOf({2, workOf(places), workOf(std::span(weight).subspan(1))});
}

/// Returns a function that computes filterFlops() of the first output and input number `weight`.
inline FlopsFunction flopsOfFilters(std::size_t weight) {
  return [weight](const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs) -> std::int64_t {
    return inputs.size() <= weight || outputs.empty() ? 0 : filterFlops(outputs[0], inputs[weight]);
  };
}

}  // namespace fusescope::ops
