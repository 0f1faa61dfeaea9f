#include "interchange/typed_network/other_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fusescope {
namespace {

using Kernel = std::set<std::string>;  ///< names of its nodes

/// The kernels of `plan`, of the nodes that `other` has too.
std::vector<Kernel> kernelsOf(const Plan& plan, const Plan& other) {
  std::vector<Kernel> kernels;
  for (const FusedNode& fused : plan.fusedNodes) {
    Kernel kernel;
    for (const NodeId id : fused.nodes) {
      const Node& node = plan.graph().node(id);
      if (!node.is("Cast") && other.graph().findNode(node.name)) kernel.insert(node.name);
    }
    if (!kernel.empty()) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// Why nodes of `kernel` are not one in `plan`: what the planner says of two of them, or of one and nodes around it.
std::string whyNot(const Plan& plan, const Kernel& kernel) {
  const Decision* nearest = nullptr;
  for (const Decision& decision : plan.decisions) {
    if (decision.kind != DecisionKind::Fuse || decision.allowed) continue;
    const auto inside = [&](const Subject& subject) { return kernel.contains(subject.name); };
    if (std::ranges::none_of(decision.subjects, inside)) continue;
    if (std::ranges::all_of(decision.subjects, inside)) return message(decision);
    if (nearest == nullptr) nearest = &decision;
  }
  return nearest == nullptr ? "the planner gives no reason" : message(*nearest);
}

std::string namesOf(const Kernel& kernel) {
  std::string names;
  for (const std::string& name : kernel) names += (names.empty() ? "" : " + ") + name;
  constexpr std::size_t kLongest = 160;
  return names.size() <= kLongest ? names : names.substr(0, kLongest) + "…";
}

}  // namespace

std::optional<ExportNote> otherKernels(const Plan& plan, const Plan& reading) {
  const std::vector<Kernel> planned = kernelsOf(plan, reading), read = kernelsOf(reading, plan);
  const std::set<Kernel> known(read.begin(), read.end());
  std::vector<Kernel> lost;
  std::ranges::copy_if(planned, std::back_inserter(lost),
                       [&](const Kernel& kernel) { return !known.contains(kernel); });
  if (lost.empty()) return std::nullopt;
  // Of the larger kernel, the plan in which its nodes are apart says why.
  const Kernel& first = lost.front();
  const auto larger = std::ranges::find_if(
      read, [&](const Kernel& kernel) { return kernel.size() > first.size() && std::ranges::includes(kernel, first); });
  const std::string why = larger != read.end() ? whyNot(plan, *larger) : whyNot(reading, first);
  return ExportNote{fmt::format("opened again, {} {} of the plan {} of other nodes; the first is {}: {}", lost.size(),
                                lost.size() == 1 ? "kernel" : "kernels", lost.size() == 1 ? "is" : "are",
                                namesOf(first), why)};
}

}  // namespace fusescope
