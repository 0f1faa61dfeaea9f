#include "tests/support/told_networks.h"

#include <fmt/format.h>

#include "ir/graph.h"

namespace fusescope::test {
namespace {

/// Empty: the kernel can have the value as it says.
std::string edgeProblem(const ReadBackPlan& made, const std::string& kernel, const KernelValue& edge) {
  if (!edge.value.valid()) return {};
  const Value& value = made.graph().value(edge.value);
  const DataType is = edge.type, was = value.type.dtype;
  if (is == DataType::Undefined || was == DataType::Undefined || isFloat(is) == isFloat(was)) return {};
  return fmt::format("{} has {} as {}, which is {}", kernel, value.name, name(is), name(was));
}

}  // namespace

std::string problemOfMade(const ReadBackPlan& made) {
  for (const NodeId id : made.graph().order()) {
    const Fate fate = made.fateOf(id);
    const bool isHeld = !made.kernelsOf(id).empty();
    if (fate != Fate::Fallback && isHeld != (fate == Fate::Kernel))
      return fmt::format("the node {} is {} and is in {} kernels", made.graph().node(id).name, name(fate),
                         made.kernelsOf(id).size());
  }
  for (const FusedNode& fused : made.fusedNodes) {
    const ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
    for (const auto* edges : {&kernel.inputs, &kernel.outputs})
      for (const KernelValue& edge : *edges)
        if (auto problem = edgeProblem(made, fused.name, edge); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace fusescope::test
