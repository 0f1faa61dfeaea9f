#pragma once

#include <set>
#include <vector>

#include "compilers/tensorrt/layer_places.h"

namespace fusescope {

class Graph;

/// Assigns to layers those nodes that no layer names, as far as tensors and neighbouring layers show where they belong.
class BetweenLayers {
 public:
  /// Changes `made`, in which named nodes are assigned already. `moves` says for each layer whether it contains no
  /// nodes; `same` contains for each ValueId the first value that is equal to it for all inputs. All must outlive this
  /// object.
  BetweenLayers(const Graph& graph, LayerPlaces& made, const std::vector<bool>& moves,
                const std::vector<ValueId>& same);

  /// Assigns the unassigned nodes between the values that a layer reads and those that it writes, if nothing else is
  /// needed to calculate these. They are Derived, or Guessed if they begin at the result of another layer instead of a
  /// known tensor.
  void takeInside(std::size_t layer);
  /// For a region of which only both ends are named: assigns the unassigned nodes on the paths from one end to the
  /// other, as Guessed.
  void takeWays(std::size_t layer);
  /// Places a layer that names nothing. It gets the nodes without a layer between the nodes of the neighbouring layers,
  /// with certainty Guessed, unless another such layer is at the same place: then it is unknown which layer they belong
  /// to, and neither gets them.
  void takeAround(std::size_t layer);
  /// Assigns values to tensors that have no name of the network, where only one value is possible: the only one that
  /// goes from the nodes of the layer that writes the tensor to the nodes of the layers that read it.
  void nameTensors();
  /// Returns unassigned nodes next to those of the neighbouring layers, at most `most`.
  std::vector<NodeId> nearest(std::size_t layer, std::size_t most) const;

 private:
  using Nodes = std::set<NodeId>;
  bool isFree(NodeId node) const { return m_holders[node.index].empty(); }
  void hold(std::size_t layer, NodeId node, Certainty certainty);
  std::vector<std::size_t> around(std::size_t layer, bool behind) const;
  bool isAlone(std::size_t layer) const;
  Nodes follow(const std::vector<ValueId>& start) const;
  Nodes trace(const std::vector<ValueId>& start) const;
  Nodes nodesAround(std::size_t layer) const;
  bool isBorder(std::size_t layer, NodeId producer) const;
  void nameTensor(std::size_t layer, std::size_t output);

  const Graph& m_graph;
  LayerPlaces& m_made;
  const std::vector<bool>& m_moves;
  const std::vector<ValueId>& m_same;
  std::vector<std::vector<std::size_t>> m_holders;  ///< by NodeId: the layers that contain the node
};

}  // namespace fusescope
