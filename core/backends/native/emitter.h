#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "backends/native/context.h"

namespace fusescope::native {

/// Adds the steps of nodes that run together. It holds what its emitter found out about them.
using EmitUnit = std::function<Status(Context&)>;

/// The nodes of a fused node that emitters claimed before the walk over its nodes.
class Units {
 public:
  /// `emit` is called where the walk meets the node `at`. The walk skips the other `nodes`, and no other emitter should
  /// claim one of them. Where two units are added at one node, the first one stays.
  void add(NodeId at, EmitUnit emit, const std::set<NodeId>& nodes = {});
  /// Whether an emitter claimed the node for a kernel of several nodes.
  bool isTaken(NodeId node) const { return m_taken.contains(node); }
  /// Whether the walk skips the node, because its unit is emitted at another one.
  bool isCovered(NodeId node) const { return m_covered.contains(node); }
  /// The unit to be emitted at the node, or null.
  const EmitUnit* at(NodeId node) const;

 private:
  std::map<NodeId, EmitUnit> m_units;
  std::set<NodeId> m_taken, m_covered;
};

/// One way to turn nodes into steps of a program. An emitter is a file of its own and a line of kernels.inc. It fills
/// in the functions that it has a use for. Errors of all of them come from oneDNN or from constants without data.
struct Emitter {
  std::string_view name;
  /// Is called for a fused node whose nodes read one value at several types, which is otherwise lowered node by node.
  /// It may change the context's rounding, if what is read differently becomes numbers of its kernel.
  void (*settle)(Context&) = nullptr;
  /// Claims nodes that it runs as one kernel, by what the plan says of the fused node. It is called in the order of the
  /// list, before the walk, unless the nodes are lowered one by one.
  void (*claim)(Context&, Units&) = nullptr;
  /// Takes one node whose operands may still wait in tapes. Returns whether it took the node.
  Result<bool> (*queue)(Context&, const Node&) = nullptr;
  /// Takes one node whose operands are there. Returns whether it took the node, and adds no step if it did not.
  Result<bool> (*emit)(Context&, const Node&) = nullptr;
};

/// Runs one node by the first emitter that takes it, or else by the reference kernel of its operator.
Status emitNode(Context& context, const Node& node);

/// The emitters of kernels.inc, in its order.
const std::vector<const Emitter*>& emitters();

}  // namespace fusescope::native
