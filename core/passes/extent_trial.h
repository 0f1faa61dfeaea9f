#pragma once

#include <optional>
#include <vector>

#include "base/stop.h"
#include "ir/graph.h"
#include "ops/type_flow.h"

namespace fusescope {

/// Where a network cannot work at some extents.
struct Misfit {
  bool inBody = false;  ///< all of the graph itself can work; bodies are looked at afterwards
  /// Of the node in the order of its graph; in bodies, after those of the node that holds it and of the body among its
  /// attributes.
  std::vector<std::size_t> position;
  Diagnostic error;

  /// Whether more of the network can work than where `other` is what stands in the way.
  bool isLaterThan(const Misfit& other) const { return inBody != other.inBody ? inBody : position > other.position; }
};

/// "node 'pool': a window of 3 does not fit", without the file and what would help.
std::string problemOf(const Diagnostic& error);

/// Which bodies of an If have to work where its condition is not known.
enum class Branches { All, One };

/// Flows extents through a network, to find out whether it can work at them.
class ExtentTrial {
 public:
  explicit ExtentTrial(const Graph& graph) : m_graph(graph) {}
  std::size_t nodeCount() const { return m_graph.nodeCount(); }

  /// The first node, in order, that cannot work with inputs of these types; nothing where all can. An error: stopped.
  Result<std::optional<Misfit>> misfit(const std::vector<TensorType>& inputs, Branches branches,
                                       const StopToken& stop) const;
  /// How many axes of pooling windows that stand side by side leave a rest that no window reads, at these types; those
  /// of the graph itself, at which it can work.
  Result<std::size_t> rests(const std::vector<TensorType>& inputs, const StopToken& stop) const;
  /// Numbers that a node's demand may be made of: known extents and small constants that it reads, and its windows.
  std::vector<std::int64_t> numbersAt(const Misfit& misfit) const;
  /// The inputs of the graph that the node depends on, by index.
  std::vector<std::size_t> inputsBehind(const Misfit& misfit) const;

 private:
  const Graph& m_graph;
};

}  // namespace fusescope
