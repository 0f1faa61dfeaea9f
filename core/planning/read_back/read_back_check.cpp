#include "planning/read_back/read_back_check.h"

#include "ir/graph.h"

namespace fusescope {
namespace {

/// Checks whether a compiler's report can be about the network that the compiler received.
class ReadBackCheck {
 public:
  ReadBackCheck(const Plan& asked, const ReadBack& readBack)
      : m_asked(asked), m_graph(asked.graph()), m_readBack(readBack), m_kernelOf(m_graph.nodeIdLimit(), SIZE_MAX) {}

  Status run() {
    for (std::size_t i = 0; i < m_readBack.kernels.size(); ++i) TRY(check(m_readBack.kernels[i], i));
    for (const auto& [node, fate] : m_readBack.fates)
      if (!m_graph.has(node)) return wrong("it reports the fate of a node that the network does not have");
    for (const ReadBackConversion& conversion : m_readBack.conversions)
      if (!isNoneOrKnown(conversion.value)) return wrong("a conversion is of a tensor that the network does not have");
    for (const ReadBackPin& pin : m_readBack.pins) {
      if (!m_graph.has(pin.node)) return wrong("a pin is on a node that the network does not have");
      for (const ValueId value : pin.cut)
        if (!m_graph.has(value)) return wrong("a pin is cut at a tensor that the network does not have");
    }
    for (const auto& [node, hindrance] : m_readBack.hindrances)
      if (!m_graph.has(node)) return wrong("it reports the type of a node that the network does not have");
    if (m_readBack.placement)
      for (const UnplacedLayer& layer : m_readBack.placement->unplaced)
        for (const NodeId node : layer.nearest)
          if (!m_graph.has(node)) return wrong("a layer may contain a node that the network does not have");
    for (std::size_t i = 0; i < m_readBack.decisions.size(); ++i)
      for (const std::uint32_t evidence : m_readBack.decisions[i].evidence)
        if (evidence >= m_asked.decisions.size() + i)
          return wrong("a decision refers to evidence that does not come before it");
    return Done{};
  }

 private:
  Diagnostic wrong(std::string what, std::string node = {}) const {
    return {.message = "what " + m_readBack.compiler.name + " reports does not fit this network: " + std::move(what),
            .where = {.node = std::move(node)}};
  }
  bool isNoneOrKnown(ValueId value) const { return !value.valid() || m_graph.has(value); }

  Status check(const ReadBackKernel& kernel, std::size_t i) {
    const std::string called = "the kernel '" + kernel.name + "' ";
    for (const auto& [node, certainty] : kernel.nodes) {
      if (!m_graph.has(node)) return wrong(called + "contains a node that the network does not have");
      const std::string& name = m_graph.node(node).name;
      if (m_kernelOf[node.index] == i) return wrong(called + "contains a node twice", name);
      m_kernelOf[node.index] = i;
      const bool inFallback = m_asked.inFallback(*m_asked.fusedNodeOf(node));
      if (inFallback && !kernel.isOurs)
        return wrong(called + "contains a node of a fallback segment, which our own engine runs", name);
      if (!inFallback && kernel.isOurs)
        return wrong(called + "is ours, but the compiler was asked to run its node", name);
    }
    for (const auto* values : {&kernel.inputs, &kernel.outputs})
      for (const KernelValue& value : *values)
        if (!isNoneOrKnown(value.value)) return wrong(called + "has a tensor that the network does not have");
    return Done{};
  }

  const Plan& m_asked;
  const Graph& m_graph;
  const ReadBack& m_readBack;
  std::vector<std::size_t> m_kernelOf;  ///< by NodeId: the last kernel that contains it
};

}  // namespace

Status checkReadBack(const Plan& asked, const ReadBack& readBack) {
  return ReadBackCheck(asked, readBack).run();
}

}  // namespace fusescope
