#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "backends/native/lowering/context.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Adds the steps of nodes that run together. It contains what its emitter found out about them.
using EmitUnit = std::function<Status(Context&)>;

/// The nodes of a fused node that emitters claimed before the walk over its nodes.
class Units {
 public:
  /// Adds a unit. `emit` is called when the walk reaches the node `at`. The walk skips the other `nodes`, and no other
  /// emitter should claim one of them. If two units are added at one node, the first one is kept.
  void add(NodeId at, EmitUnit emit, const std::set<NodeId>& nodes = {});
  /// Returns whether an emitter claimed the node for a kernel of several nodes.
  bool isClaimed(NodeId node) const { return m_claimed.contains(node); }
  /// Returns whether the walk skips the node, because its unit is emitted at another one.
  bool isCovered(NodeId node) const { return m_covered.contains(node); }
  /// Returns the unit that is emitted at the node, or null.
  const EmitUnit* at(NodeId node) const;

 private:
  std::map<NodeId, EmitUnit> m_units;
  std::set<NodeId> m_claimed, m_covered;
};

/// One way to turn nodes into steps of a program. Each emitter is a separate file and one line of kernels.inc, and
/// defines only the functions that it needs. Errors of all of them come from oneDNN or from constants without data.
struct Emitter {
  std::string_view name;
  /// Called for a fused node whose nodes read one value in several types, which is otherwise lowered node by node. It
  /// may change the context's rounding if the values that are read differently become numbers of its kernel.
  void (*settle)(Context&) = nullptr;
  /// Claims nodes that it runs as one kernel, from what the plan says about the fused node. It is called in the order
  /// of the list, before the walk, unless the nodes are lowered one by one.
  void (*claim)(Context&, Units&) = nullptr;
  /// Handles one node whose operands may still wait in tapes. Returns whether it handled the node.
  Result<bool> (*queue)(Context&, const Node&) = nullptr;
  /// Handles one node whose operands are calculated. Returns whether it handled the node, and adds no step if it did
  /// not.
  Result<bool> (*emit)(Context&, const Node&) = nullptr;
};

/// Runs one node with the first emitter that handles it, or else with the reference kernel of its operator.
Status emitNode(Context& context, const Node& node);

/// Returns the emitters of kernels.inc, in its order.
const std::vector<const Emitter*>& emitters();

}  // namespace fusescope::native
