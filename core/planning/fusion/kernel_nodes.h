#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ir/graph.h"
#include "planning/kernel_bindings.h"

namespace fusescope {

/// Shows which nodes of one fused node calculate and read a value; bindings are made from this.
class KernelNodes {
 public:
  KernelNodes(const Graph& graph, const FusedNode& fused);

  const Graph& graph() const { return m_graph; }
  const FusedNode& fused() const { return m_fused; }
  const Node& node(NodeId id) const { return m_graph.node(id); }
  bool has(NodeId node) const { return m_members.contains(node); }
  bool isOutput(ValueId value) const { return m_outputs.contains(value); }
  /// Returns the node inside that calculates the value.
  std::optional<NodeId> maker(ValueId value) const;
  /// Returns the nodes inside that read it.
  std::vector<NodeId> readers(ValueId value) const;
  /// Returns the only reader of a value that no other node needs.
  std::optional<NodeId> onlyReader(ValueId value) const;
  /// Returns the nodes on the paths from `from` to `to`, in graph order; empty if there is no path.
  std::vector<NodeId> between(ValueId from, ValueId to) const;
  /// Returns whether only `nodes` read the results of `nodes`, except for `result`.
  bool leaveOnly(const std::vector<NodeId>& nodes, ValueId result) const;
  /// Returns the codes from which a value was dequantised. If `throughViews` is set, views may be between them.
  CodesBefore codesBefore(ValueId value, bool throughViews) const;
  /// Returns what calculates a matrix in the fused node.
  MatrixBefore matrixBefore(ValueId value) const;

 private:
  const Graph& m_graph;
  const FusedNode& m_fused;
  std::set<NodeId> m_members;
  std::set<ValueId> m_outputs;
};

// Each of these functions binds one kind of kernel.
std::vector<RootBinding> bindRoots(const KernelNodes& nodes);
NormBinding bindNorm(const KernelNodes& nodes);
AttentionBinding bindAttention(const KernelNodes& nodes);
std::vector<HeldCodesBinding> bindHeldCodes(const KernelNodes& nodes);
std::vector<DequantizedTableBinding> bindTables(const KernelNodes& nodes);

}  // namespace fusescope
