#include "interchange/typed_network/other_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/users.h"
#include "planning/fusion/match.h"
#include "planning/structure.h"

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

/// Says why the nodes of a kernel that one plan has do not run as one kernel in another.
class WhyApart {
 public:
  /// `plan` has the nodes of `kernel` apart, `whole` has them as one kernel. `where` names the network of `plan`,
  /// `whence` that of `whole`.
  WhyApart(const Plan& plan, const Plan& whole, const Kernel& kernel, std::string_view where, std::string_view whence)
      : m_plan(plan), m_whole(whole), m_kernel(kernel), m_where(where), m_whence(whence) {
    for (const std::string& name : kernel) m_nodes.push_back(*plan.graph().findNode(name));
  }

  std::string say() const {
    for (const auto reason : {&WhyApart::refusalInside, &WhyApart::types, &WhyApart::castBetween,
                              &WhyApart::otherCompany, &WhyApart::refusalAround})
      if (std::optional<std::string> found = (this->*reason)()) return *found;
    const NodeId first = m_nodes.front(), other = *std::ranges::find_if(m_nodes, [&](NodeId id) {
                                            return m_plan.fusedNodeOf(id) != m_plan.fusedNodeOf(first);
                                          });
    return fmt::format("in {} {} runs as {} and {} as {}, and no fusion rule joins them", m_where,
                       m_plan.graph().node(first).name, m_plan.fusedNodeOf(first)->kind,
                       m_plan.graph().node(other).name, m_plan.fusedNodeOf(other)->kind);
  }

 private:
  /// What the planner says of nodes that are all in the kernel.
  std::optional<std::string> refusalInside() const {
    return refusal([&](const Decision& decision) {
      return decision.subjects.size() > 1 && std::ranges::all_of(decision.subjects, [&](const Subject& subject) {
               return m_kernel.contains(subject.text());
             });
    });
  }

  /// What the planner says of a node of the kernel and of another node: what comes apart from that one joins no other.
  std::optional<std::string> refusalAround() const {
    return refusal([&](const Decision& decision) {
      return std::ranges::any_of(decision.subjects,
                                 [&](const Subject& subject) { return m_kernel.contains(subject.text()); });
    });
  }

  template <class Fits>
  std::optional<std::string> refusal(const Fits& fits) const {
    for (const Decision& decision : m_plan.decisions)
      if (decision.kind == DecisionKind::Fuse && !decision.allowed && fits(decision)) return message(decision);
    return std::nullopt;
  }

  /// A node that calculates in another type than in the other plan.
  std::optional<std::string> types() const {
    for (const NodeId id : m_nodes) {
      const std::string& node = m_plan.graph().node(id).name;
      const DataType here = m_plan.calculates[id.index];
      const DataType there = m_whole.calculates[m_whole.graph().findNode(node)->index];
      if (here != there && isExchangeable(here) && isExchangeable(there))
        return fmt::format("{} computes in {} in {} and in {} in {}", node, name(here), m_where, name(there), m_whence);
    }
    return std::nullopt;
  }

  /// Casts between two nodes that run apart.
  std::optional<std::string> castBetween() const {
    const Graph& graph = m_plan.graph();
    for (const NodeId id : m_nodes)
      for (const ValueId value : valuesRead(graph.node(id))) {
        std::vector<NodeId> casts;
        const NodeId producer = graph.value(beforeCasts(graph, value, &casts)).producer;
        if (casts.empty() || !producer.valid() || std::ranges::find(m_nodes, producer) == m_nodes.end()) continue;
        if (m_plan.fusedNodeOf(producer) == m_plan.fusedNodeOf(id)) continue;
        return fmt::format("the Cast {} is between {} and {} in {}, where no fusion rule accepts one",
                           graph.node(casts.front()).name, graph.node(producer).name, graph.node(id).name, m_where);
      }
    return std::nullopt;
  }

  /// A node that runs with others already: it can be in one kernel only.
  std::optional<std::string> otherCompany() const {
    for (const NodeId id : m_nodes)
      for (const NodeId other : m_plan.fusedNodeOf(id)->nodes) {
        const Node& node = m_plan.graph().node(other);
        if (node.is("Cast") || m_kernel.contains(node.name)) continue;
        return fmt::format("{} runs with {} in {}", m_plan.graph().node(id).name, node.name, m_where);
      }
    return std::nullopt;
  }

  const Plan &m_plan, &m_whole;
  const Kernel& m_kernel;
  const std::string_view m_where, m_whence;
  std::vector<NodeId> m_nodes;  ///< of m_plan
};

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
  constexpr std::string_view kPlan = "the plan", kReading = "the exported network";
  const WhyApart why = larger != read.end() ? WhyApart(plan, reading, *larger, kPlan, kReading)
                                            : WhyApart(reading, plan, first, kReading, kPlan);
  return ExportNote{
      fmt::format("when the exported network is opened again, {} {} of the plan {} of other nodes; the first is {}: {}",
                  lost.size(), lost.size() == 1 ? "kernel" : "kernels", lost.size() == 1 ? "is" : "are", namesOf(first),
                  why.say())};
}

}  // namespace fusescope
