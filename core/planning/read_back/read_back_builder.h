#pragma once

#include <memory>
#include <vector>

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

class Graph;

/// Makes a ReadBackPlan of a compiler's report, which was already checked against the network. It is used once, and
/// both arguments must outlive it.
class ReadBackBuilder {
 public:
  ReadBackBuilder(std::shared_ptr<const Plan> asked, const ReadBack& readBack);
  std::shared_ptr<const ReadBackPlan> run();

 private:
  bool isAsPlanned(const ReadBackKernel& kernel) const;
  void takeNodes(const ReadBackKernel& reported);
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
  void setFates();
  void grantTypes();
  DataType grantOf(NodeId node, DataType planned) const;
  void setSupport();

  bool isOurs(NodeId node) const { return m_asked.inFallback(*m_asked.fusedNodeOf(node)); }
  bool isInside(NodeId node) const { return m_insideOf[node.index] == m_mark; }

  static constexpr std::uint32_t kNoKernel = UINT32_MAX;

  const Plan& m_asked;
  const Graph& m_graph;
  const ReadBack& m_readBack;
  std::vector<const ReadBackKernel*> m_news;  ///< the kernels of m_told that differ from those of the plan
  std::shared_ptr<ReadBackPlan> m_made;
  SegmentId m_onlySegment;                            ///< the segment that was compiled; invalid if there are several
  std::vector<FusedNode> m_kernels;                   ///< the reported kernels, then those of our own engine
  std::vector<ReadBackPlan::Kernel> m_details;        ///< one per element of m_kernels
  std::vector<std::vector<std::uint32_t>> m_holders;  ///< by NodeId: indices of the kernels that contain it, ascending
  std::vector<std::uint32_t> m_madeBy;                ///< by NodeId: result of makerOf()
  std::vector<std::vector<NodeId>> m_enclosed;        ///< one per element of m_kernels: enclosed nodes without a kernel
  std::vector<char> m_isWritten;                      ///< by ValueId: a kernel that computes it writes it
  std::vector<std::size_t> m_position;                ///< by NodeId: position in the order of the graph
  std::vector<std::uint32_t> m_insideOf;  ///< by NodeId: m_mark of the kernel that was entered last and contains it
  std::uint32_t m_mark = 0;               ///< the mark of the kernel that was entered last
  /// By FusedNodeId of the plan that was asked for: the fused node in `m_made`, if it is our own.
  std::vector<FusedNodeId> m_oursNow;
};

}  // namespace fusescope
