#include "compilers/tensorrt/region_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/users.h"
#include "base/text.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr const char* kAdvisor = "tensorrt";
constexpr const char* kTried = "tried with TensorRT for RTX 1.7, not with this version";

bool multiplies(const Node& node) {
  return node.is("MatMul") || node.is("Gemm") || node.is("Conv") || node.is("ConvTranspose");
}

bool isWholeRegion(const ReadBackKernel& kernel) {
  return !kernel.region.empty() && kernel.region == kernel.name;
}

class RegionAdvice {
 public:
  RegionAdvice(const Plan& plan, const std::vector<ReadBackKernel>& kernels)
      : m_plan(plan), m_graph(plan.graph()), m_kernels(kernels), m_kernelsOf(m_graph.nodeIdLimit()) {
    for (std::size_t i = 0; i < kernels.size(); ++i)
      for (const auto& [node, certainty] : kernels[i].nodes) m_kernelsOf[node.index].push_back(i);
  }

  std::vector<Decision> run() {
    for (const NodeId node : m_graph.order())
      if (m_graph.node(node).is("Softmax")) adviseAttention(node);
    adviseTypes();
    adviseCuts();
    for (const ReadBackKernel& kernel : m_kernels)
      if (isWholeRegion(kernel)) adviseWhole(kernel);
    return std::move(m_advice);
  }

 private:
  void add(std::string_view code, const std::vector<NodeId>& nodes, DecisionArguments arguments) {
    std::vector<Subject> subjects;
    for (const NodeId node : nodes) subjects.push_back(Subject::node(m_graph.node(node).name));
    arguments["evidence"] = kTried;
    m_advice.push_back(decide(code, std::move(subjects), kAdvisor, std::move(arguments)));
  }

  const std::string& nameOf(NodeId node) const { return m_graph.node(node).name; }

  /// Returns the region that contains all kernels of the nodes, if there is exactly one.
  std::string regionOf(const std::vector<NodeId>& nodes) const {
    std::set<std::string> regions;
    for (const NodeId node : nodes)
      for (const std::size_t kernel : m_kernelsOf[node.index]) regions.insert(m_kernels[kernel].region);
    return regions.size() == 1 ? *regions.begin() : std::string();
  }

  /// Returns the product before a node, through nodes that each work on all elements.
  NodeId productBefore(NodeId node) const {
    for (int steps = 0; steps < 4; ++steps) {
      NodeId next;
      for (const ValueId value : valuesRead(m_graph.node(node)))
        if (!next.valid() && !m_graph.isConstant(value)) next = m_graph.value(value).producer;
      if (!next.valid() || m_graph.node(next).is("MatMul")) return next;
      node = next;
    }
    return {};
  }
  NodeId productAfter(NodeId node) const {
    for (int steps = 0; steps < 3; ++steps) {
      const auto& outputs = m_graph.node(node).outputs;
      const auto& readers = m_graph.value(outputs.front()).consumers;
      if (readers.empty()) return {};
      node = readers.front();
      if (m_graph.node(node).is("MatMul")) return node;
    }
    return {};
  }

  /// Gives advice about attention that became several kernels.
  void adviseAttention(NodeId softmax) {
    const NodeId scores = productBefore(softmax), weighted = productAfter(softmax);
    if (!scores.valid() || !weighted.valid()) return;
    const std::vector<NodeId> nodes{scores, softmax, weighted};
    const std::string region = regionOf(nodes);
    std::set<std::size_t> kernels;
    for (const NodeId node : nodes) kernels.insert(m_kernelsOf[node.index].begin(), m_kernelsOf[node.index].end());
    if (region.empty() || kernels.size() < 2) return;
    std::set<DataType> types;
    for (const NodeId node : {scores, weighted})
      for (const std::size_t kernel : m_kernelsOf[node.index]) types.insert(m_kernels[kernel].compute);
    DecisionArguments arguments{{"region", region}, {"kernels", kernels.size()}};
    if (const ValueId output = outputBetween(scores, weighted); output.valid()) {
      arguments["value"] = m_graph.value(output).name;
      add("build.region_attention_output", nodes, std::move(arguments));
    } else if (types == std::set{DataType::F32}) {
      arguments["scores"] = nameOf(scores);
      arguments["weighted"] = nameOf(weighted);
      add("build.region_attention_wide", nodes, std::move(arguments));
    }
  }

  /// Returns the output of the network among the values between the two products; invalid if there is none.
  ValueId outputBetween(NodeId scores, NodeId weighted) const {
    std::vector<NodeId> open{scores};
    for (std::size_t i = 0; i < open.size() && open.size() < 16; ++i)
      for (const ValueId value : m_graph.node(open[i]).outputs) {
        if (m_graph.isOutput(value)) return value;
        for (const NodeId user : m_graph.value(value).consumers)
          if (user != weighted) open.push_back(user);
      }
    return {};
  }

  /// Gives advice about pins of nodes in regions whose kernels have another type.
  void adviseTypes() {
    std::map<std::string, std::vector<NodeId>> pinned;
    for (const PrecisionGrant& grant : m_plan.precisionMap) {
      if (grant.asked == DataType::Undefined) continue;
      for (const std::size_t kernel : m_kernelsOf[grant.node.index])
        if (!m_kernels[kernel].region.empty() && m_kernels[kernel].compute != grant.asked) {
          pinned[m_kernels[kernel].region].push_back(grant.node);
          break;
        }
    }
    for (const auto& [region, nodes] : pinned)
      add("build.region_types_in_network", nodes, {{"region", region}, {"nodes", std::ssize(nodes)}});
  }

  /// Gives advice about kernels of regions that contain a product and its followers, and about those that contain
  /// several others; for each region it lists the nodes of all of them.
  void adviseCuts() {
    std::map<std::string, std::vector<NodeId>> products, chains;
    for (const ReadBackKernel& kernel : m_kernels) {
      if (kernel.region.empty() || isWholeRegion(kernel) || kernel.nodes.size() < 2) continue;
      const bool hasProduct =
          std::ranges::any_of(kernel.nodes, [&](const auto& held) { return multiplies(m_graph.node(held.first)); });
      auto& nodes = (hasProduct ? products : chains)[kernel.region];
      for (const auto& [node, certainty] : kernel.nodes) nodes.push_back(node);
    }
    for (const auto& [region, nodes] : products) add("build.region_cut_product", nodes, {{"region", region}});
    for (const auto& [region, nodes] : chains) add("build.region_cut_chain", nodes, {{"region", region}});
  }

  void adviseWhole(const ReadBackKernel& kernel) {
    std::vector<NodeId> nodes;
    for (const auto& [node, certainty] : kernel.nodes) nodes.push_back(node);
    add("build.region_whole", nodes, {{"region", kernel.region}, {"nodes", std::ssize(nodes)}});
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const std::vector<ReadBackKernel>& m_kernels;
  std::vector<std::vector<std::size_t>> m_kernelsOf;  ///< by NodeId
  std::vector<Decision> m_advice;
};

}  // namespace

std::vector<Decision> regionAdvice(const Plan& plan, const std::vector<ReadBackKernel>& kernels) {
  return RegionAdvice(plan, kernels).run();
}

}  // namespace fusescope
