#include "tests/support/told_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "compilers/openvino/layer_kinds.h"

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
/// conversion writes them. Extents are not in a read-back plan; tests of a compiler that reports them compare them with
/// haveSameExtents().
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

std::string operatorsOf(const ReadBackPlan& made, const FusedNode& fused) {
  std::vector<std::string> operators;
  for (const NodeId id : fused.nodes) operators.push_back(made.graph().node(id).op);
  return joined(operators);
}

/// Returns a problem, or an empty text if the kernels of TensorRT for RTX can do the work of their nodes: a kernel of
/// products or convolutions contains one, and a kernel that only moves elements calculates nothing.
std::string workProblem(const ReadBackPlan& made) {
  const std::set<std::string> products{"matmul", "gemm", "conv", "deconv", "attention", "fmha"};
  const std::set<std::string> moves{"copy", "Reformat", "NoOp", "memset", "Constant", "signal", "wait", "shape_call"};
  for (const FusedNode& fused : made.fusedNodes) {
    if (made.kernels[fused.id.index].isOurs || fused.nodes.empty()) continue;
    const auto is = [&](const std::set<NodeWork>& works) {
      return [&, works](NodeId id) {
        const Node& node = made.graph().node(id);
        return hasBody(node) || works.contains(workOf(node));
      };
    };
    const bool isProduct = products.contains(fused.kind);
    if (isProduct && std::ranges::none_of(fused.nodes, is({NodeWork::Product, NodeWork::Convolution, NodeWork::Other})))
      return fmt::format("{} is a {} and contains no product: {}", fused.name, fused.kind, operatorsOf(made, fused));
    if (moves.contains(fused.kind) && !std::ranges::all_of(fused.nodes, is({NodeWork::Moves, NodeWork::Casts})))
      return fmt::format("{} is a {} and calculates {}", fused.name, fused.kind, operatorsOf(made, fused));
  }
  return {};
}

}  // namespace

void SilentNodes::add(const ReadBackPlan& made) {
  for (const NodeId id : made.graph().order()) {
    const bool isHolder = hasBody(made.graph().node(id)), isSilent = made.fateOf(id) == Fate::NotDisclosed;
    ++(isHolder ? holders : nodes);
    if (!isSilent) continue;
    ++(isHolder ? silentHolders : silent);
    ++byOperator[made.graph().node(id).op];
  }
}

std::string SilentNodes::text() const {
  std::vector<std::pair<std::size_t, std::string>> counts;
  for (const auto& [op, count] : byOperator) counts.emplace_back(count, op);
  std::ranges::sort(counts, std::greater());
  std::vector<std::string> texts;
  for (const auto& [count, op] : counts) texts.push_back(fmt::format("{} {}", count, op));
  return fmt::format("{} of {} nodes ({:.1f} %) and {} of {} holders of bodies: {}", silent, nodes, 100 * share(),
                     silentHolders, holders, joined(texts));
}

bool haveSameExtents(std::vector<std::int64_t> told, const Value& value) {
  const auto fixed = value.type.shape.fixed();
  if (!fixed) return true;
  std::vector<std::int64_t> known(fixed->begin(), fixed->end());
  const auto isOpen = [](std::int64_t extent) { return extent < 0; };
  if (std::ranges::any_of(told, isOpen)) {
    const auto isAlike = [](std::int64_t a, std::int64_t b) { return a < 0 || a == b; };
    return told.size() != known.size() || std::ranges::equal(told, known, isAlike);
  }
  for (auto* extents : {&told, &known}) std::erase(*extents, 1);
  // In each step, one axis of one side is as long as one or more axes of the other.
  std::size_t i = 0, j = 0;
  while (i < told.size() && j < known.size()) {
    std::int64_t ofTold = told[i++], ofKnown = known[j++];
    if (ofTold < ofKnown)
      while (ofTold < ofKnown && i < told.size()) ofTold *= told[i++];
    else
      while (ofKnown < ofTold && j < known.size()) ofKnown *= known[j++];
    if (ofTold != ofKnown) return false;
  }
  return i == told.size() && j == known.size();
}

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
  return made.compiler.name == "tensorrt-rtx" ? workProblem(made) : typesProblem(made);
}

}  // namespace fusescope::test
