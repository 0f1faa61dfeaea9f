#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ir/graph.h"
#include "planning/kernel_bindings.h"

namespace fusescope {

/// Who makes and reads a value within one fused node: what nodes are bound by.
class KernelNodes {
 public:
  KernelNodes(const Graph& graph, const FusedNode& fused);

  const Graph& graph() const { return m_graph; }
  const FusedNode& fused() const { return m_fused; }
  const Node& node(NodeId id) const { return m_graph.node(id); }
  bool has(NodeId node) const { return m_members.contains(node); }
  bool isOutput(ValueId value) const { return m_outputs.contains(value); }
  /// The node inside that makes the value.
  std::optional<NodeId> maker(ValueId value) const;
  /// The nodes inside that read it.
  std::vector<NodeId> readers(ValueId value) const;
  /// The only reader of a value that nobody else needs.
  std::optional<NodeId> onlyReader(ValueId value) const;
  /// The nodes on the ways from `from` to `to`, in graph order; empty if there is no way.
  std::vector<NodeId> between(ValueId from, ValueId to) const;
  /// Whether nobody but `nodes` needs what they make, besides `result`.
  bool leaveOnly(const std::vector<NodeId>& nodes, ValueId result) const;
  /// Where a value comes from codes; `throughViews`: views may stand between.
  CodesBefore codesBefore(ValueId value, bool throughViews) const;

 private:
  const Graph& m_graph;
  const FusedNode& m_fused;
  std::set<NodeId> m_members;
  std::set<ValueId> m_outputs;
};

// Each binds one kind of kernel.
std::vector<RootBinding> bindRoots(const KernelNodes& nodes);
NormBinding bindNorm(const KernelNodes& nodes);
AttentionBinding bindAttention(const KernelNodes& nodes);
std::vector<HeldCodesBinding> bindHeldCodes(const KernelNodes& nodes);

}  // namespace fusescope
