#pragma once

#include <memory>
#include <vector>

#include "planning/read_back_plan.h"

namespace fusescope {

/// Makes a ReadBackPlan of what a compiler tells, which was checked to be of the network. Used once; both outlive it.
class ReadBackBuilder {
 public:
  ReadBackBuilder(std::shared_ptr<const Plan> asked, const ReadBack& told);
  std::shared_ptr<const ReadBackPlan> run();

 private:
  bool isAsPlanned(const ReadBackKernel& told) const;
  void takeNodes(const ReadBackKernel& told);
  void takeOurs(const FusedNode& fused);
  void noteWritten(std::uint32_t kernel);
  void findEnclosed();
  std::uint32_t makerOf(NodeId node) const;
  void enter(std::uint32_t kernel);
  void takeValues(std::uint32_t kernel);
  void takeInnerEdges(std::uint32_t kernel);
  std::vector<ValueId> resultsOf(const FusedNode& fused) const;
  void deriveOutputs(std::uint32_t kernel);
  void deriveInputs(std::uint32_t kernel);
  NodeId rootOf(const FusedNode& fused) const;
  SegmentId segmentOf(const FusedNode& fused) const;
  bool isUsedInside(ValueId value) const;
  bool isUsedOutside(ValueId value) const;
  void order();
  void identify();
  void storeTypes();
  void storeAs(const KernelValue& value);
  void storeBindings();
  void bindAs(const KernelValue& value);
  void typeValues();
  void moveCasts();
  void tellFates();
  void grantTypes();
  DataType grantOf(NodeId node, DataType planned) const;
  void tellSupport();

  bool isOurs(NodeId node) const { return m_asked.inFallback(*m_asked.fusedNodeOf(node)); }
  bool isInside(NodeId node) const { return m_insideOf[node.index] == m_mark; }

  static constexpr std::uint32_t kNoKernel = UINT32_MAX;

  const Plan& m_asked;
  const Graph& m_graph;
  const ReadBack& m_told;
  std::vector<const ReadBackKernel*> m_news;  ///< of m_told, those that the plan does not have as they are
  std::shared_ptr<ReadBackPlan> m_made;
  SegmentId m_onlySegment;                            ///< all that was compiled; invalid: there are several
  std::vector<FusedNode> m_kernels;                   ///< those that are told, then our own
  std::vector<ReadBackPlan::Kernel> m_details;        ///< as m_kernels
  std::vector<std::vector<std::uint32_t>> m_holders;  ///< by NodeId: of m_kernels, ascending
  std::vector<std::uint32_t> m_madeBy;                ///< by NodeId: makerOf()
  std::vector<std::vector<NodeId>> m_enclosed;        ///< as m_kernels: nodes without a kernel that are inside
  std::vector<char> m_isWritten;                      ///< by ValueId: a kernel that makes it writes it
  std::vector<std::size_t> m_position;                ///< by NodeId: in the order of the graph
  std::vector<std::uint32_t> m_insideOf;              ///< by NodeId: m_mark when a kernel that holds it was entered
  std::uint32_t m_mark = 0;                           ///< of the kernel that was entered last
  std::vector<FusedNodeId> m_oursNow;  ///< by FusedNodeId of the plan that was asked for: our own in `m_made`
};

}  // namespace fusescope
