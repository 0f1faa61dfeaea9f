#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/graph.h"
#include "ops/type_flow.h"

namespace fusescope {

/// The place where a network cannot work at certain extents.
struct Misfit {
  bool inBody = false;  ///< the whole graph itself can work; bodies are checked after it
  /// The position of the node in the order of its graph. In a body, it follows the position of the holder and the index
  /// of the body among the holder's attributes.
  std::vector<std::size_t> position;
  Diagnostic error;

  /// Returns the position in the graph's order of the holder, if the node is in a body.
  std::optional<std::size_t> holder() const { return inBody ? std::optional(position.front()) : std::nullopt; }
  /// Returns whether the network works up to a later node than with the misfit `other`.
  bool isLaterThan(const Misfit& other) const { return inBody != other.inBody ? inBody : position > other.position; }
};

/// Returns "node 'pool': a window of 3 does not fit": the error without file and help.
std::string problemOf(const Diagnostic& error);

/// Which branches of an If must work if its condition is unknown: all of them, or at least one.
enum class Branches { All, One };

/// A body of a node.
struct BodyPlace {
  std::size_t holder = 0;  ///< position of the holder in the graph's order
  std::string attribute;
};

/// Infers types for given extents, to find out whether a network can work at them.
class ExtentTrial {
 public:
  explicit ExtentTrial(const Graph& graph) : m_graph(graph) {}
  std::size_t nodeCount() const { return m_graph.nodeCount(); }
  const Graph& graph() const { return m_graph; }
  /// Returns the same trial in which the holder of `only`, an If of the graph, always takes this branch.
  ExtentTrial taking(BodyPlace only) const;
  /// Returns the branches of the node at position `holder` in the graph's order; none if it is not an If.
  std::vector<BodyPlace> branchesOf(std::size_t holder) const;

  /// Returns the first node, in order, that cannot work with inputs of these types, or nothing if all can. The only
  /// error is that `stop` was requested.
  Result<std::optional<Misfit>> misfit(const std::vector<TensorType>& inputs, Branches branches,
                                       const StopToken& stop) const;
  /// Returns how many axes of adjacent pooling windows leave a remainder that no window reads, at types at which the
  /// graph can work. Windows in bodies are not counted.
  Result<std::size_t> rests(const std::vector<TensorType>& inputs, const StopToken& stop) const;
  /// Returns numbers that may be part of a node's demand: known extents and small constants that it reads, and its
  /// windows.
  std::vector<std::int64_t> numbersAt(const Misfit& misfit) const;
  /// Returns the indices of the graph's inputs on which the node depends.
  std::vector<std::size_t> inputsBehind(const Misfit& misfit) const;

 private:
  const Graph& m_graph;
  std::optional<BodyPlace> m_taken;
};

}  // namespace fusescope
