#pragma once

#include <map>
#include <string>

#include "ir/tensor.h"
#include "planning/plan.h"
#include "tests/mutation/dice.h"

namespace fusescope {
class Graph;
}  // namespace fusescope

namespace fusescope::property {

/// What was looked at.
struct KernelCounts {
  std::size_t kernels = 0, unknown = 0, native = 0;
  std::size_t narrow = 0;  ///< native ones of nodes that the reference would emulate
};

/// Runs the fused nodes one after the other, each on what those before it left (or on random values where that has
/// grown without bound), and compares what the reference makes of it with emulate(); `native`: also every tactic of the
/// native backend over plain formats. Returns what differs, or nothing.
std::string checkKernels(const Plan& plan, mutation::Dice& dice, bool native, KernelCounts& counts);

/// Whether the reference's engine of `plan`, which lowers nothing, gives what running the nodes one by one gives.
std::string checkEngine(const std::shared_ptr<const Plan>& plan, mutation::Dice& dice);

/// The outputs of `graph` by running its nodes one by one.
Result<std::map<std::string, Tensor>> runNodes(const Graph& graph, const std::map<std::string, Tensor>& inputs);

/// Whether `a` is `b` as far as f32 kernels agree: to a thousandth of each element and of the usual size.
bool isNear(const Tensor& a, const Tensor& b);

}  // namespace fusescope::property
