#pragma once

#include <optional>
#include <string>
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

  /// The place, in the order of the graph, of the node in whose body it is.
  std::optional<std::size_t> holder() const { return inBody ? std::optional(position.front()) : std::nullopt; }
  /// Whether more of the network can work than where `other` is what stands in the way.
  bool isLaterThan(const Misfit& other) const { return inBody != other.inBody ? inBody : position > other.position; }
};

/// "node 'pool': a window of 3 does not fit", without the file and what would help.
std::string problemOf(const Diagnostic& error);

/// Which bodies of an If have to work where its condition is not known: all of them, or at least one.
enum class Branches { All, One };

/// A body of a node of a graph.
struct BodyPlace {
  std::size_t holder = 0;  ///< in the order of the graph
  std::string attribute;
};

/// Flows extents through a network, to find out whether it can work at them.
class ExtentTrial {
 public:
  explicit ExtentTrial(const Graph& graph) : m_graph(graph) {}
  std::size_t nodeCount() const { return m_graph.nodeCount(); }
  const Graph& graph() const { return m_graph; }
  /// The same trial, in which an If of the graph always takes the branch `only`.
  ExtentTrial taking(BodyPlace only) const;
  /// The branches of the node at place `holder` of the graph's order; none if it is no If.
  std::vector<BodyPlace> branchesOf(std::size_t holder) const;

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
  std::optional<BodyPlace> m_taken;
};

}  // namespace fusescope
