#include "tests/support/told_networks.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "ir/graph.h"

namespace fusescope::test {
namespace {

/// Returns a problem, or an empty text if the kernel can read or write the value with this type.
std::string edgeProblem(const ReadBackPlan& made, const std::string& kernel, const KernelValue& edge) {
  if (!edge.value.valid()) return {};
  const Value& value = made.graph().value(edge.value);
  const DataType is = edge.type, was = value.type.dtype;
  if (is == DataType::Undefined || was == DataType::Undefined || isFloat(is) == isFloat(was)) return {};
  return fmt::format("{} has {} as {}, which is {}", kernel, value.name, name(is), name(was));
}

/// Returns a problem, or an empty text if every kernel reads its values in a type in which another kernel or a
/// conversion writes them. Extents need no such check, because readers give a tensor the name of a value only if it has
/// as many elements.
std::string typesProblem(const ReadBackPlan& made) {
  std::map<ValueId, std::set<std::string>> written;
  for (const FusedNode& fused : made.fusedNodes)
    for (const KernelValue& output : made.kernels[fused.id.index].outputs)
      if (output.value.valid() && output.type != DataType::Undefined)
        written[output.value].insert(std::string(name(output.type)));
  for (const ReadBackConversion& conversion : made.conversions)
    if (const auto known = written.find(conversion.value); conversion.isCast && known != written.end())
      known->second.insert({conversion.from, conversion.to});
  // A kernel without nodes is a conversion that the compiler added; its output may have no name.
  std::set<ValueId> converted;
  for (const FusedNode& fused : made.fusedNodes)
    if (fused.nodes.empty())
      for (const KernelValue& input : made.kernels[fused.id.index].inputs) converted.insert(input.value);
  for (const FusedNode& fused : made.fusedNodes) {
    if (fused.nodes.empty()) continue;
    for (const KernelValue& input : made.kernels[fused.id.index].inputs) {
      const auto known = written.find(input.value);
      if (known == written.end() || input.type == DataType::Undefined || converted.contains(input.value)) continue;
      if (!known->second.contains(std::string(name(input.type))))
        return fmt::format("{} reads {} as {}, which no kernel writes", fused.name,
                           made.graph().value(input.value).name, name(input.type));
    }
  }
  return {};
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
  // TensorRT for RTX does not report what it converts between two of its kernels.
  return made.compiler.name == "tensorrt-rtx" ? std::string() : typesProblem(made);
}

}  // namespace fusescope::test
