#pragma once

#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "ir/tensor.h"

namespace fusescope {

class Graph;
struct Subgraph;

/// The values that a node can read: those of its graph and, through the captures of bodies, those of the enclosing
/// graphs. It refers to all these graphs and must not outlive them.
class ValueScope {
 public:
  explicit ValueScope(const Graph& graph) : m_graph(graph) {}
  /// Makes the scope inside a body of a node in `outer`.
  ValueScope(const Subgraph& body, const ValueScope& outer);

  const Graph& graph() const { return m_graph; }
  /// Returns the constant of a value, which may lack data, or null if the value is calculated or an input.
  const Tensor* constant(ValueId value) const;
  /// Returns whether a value is a constant or depends only on constants. Normalisation folds such values in the graph,
  /// but not in bodies.
  bool dependsOnConstants(ValueId value) const;
  /// Returns whether a value is an input of the network.
  bool isGiven(ValueId value) const;

 private:
  const Graph& m_graph;
  const ValueScope* m_outer = nullptr;
  std::unordered_map<ValueId, ValueId> m_captured;  ///< by input of the body: the value of the outer scope
  std::vector<char> m_foldable;                     ///< by ValueId of a body: it is calculated only from constants
};

}  // namespace fusescope
