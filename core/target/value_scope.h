#pragma once

#include <unordered_map>

#include "ir/graph.h"

namespace fusescope {

/// The values that a node can see: those of its graph, and through a body's captures those of the graphs around it.
/// Refers to all of them; lives on the stack of who asks.
class ValueScope {
 public:
  explicit ValueScope(const Graph& graph) : m_graph(graph) {}
  /// Inside the body of a node that lies in `outer`.
  ValueScope(const Subgraph& body, const ValueScope& outer);

  const Graph& graph() const { return m_graph; }
  /// The constant behind a value, which may lack data; null if it is calculated or given.
  const Tensor* constant(ValueId value) const;
  /// Whether a value is a constant or depends on constants alone. Normalisation folds such values of the graph, not
  /// those of bodies.
  bool dependsOnConstants(ValueId value) const;
  /// Whether a value is an input of the network.
  bool isGiven(ValueId value) const;

 private:
  const Graph& m_graph;
  const ValueScope* m_outer = nullptr;
  std::unordered_map<ValueId, ValueId> m_captured;  ///< input of the body → value of the outer scope
  std::vector<char> m_foldable;                     ///< by ValueId of a body: calculated from constants alone
};

}  // namespace fusescope
