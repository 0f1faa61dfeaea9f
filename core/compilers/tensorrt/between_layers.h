#pragma once

#include <set>
#include <vector>

#include "compilers/tensorrt/layer_places.h"

namespace fusescope {

/// Gives layers the nodes that no layer names, as far as tensors and the layers around tell whose they are.
class BetweenLayers {
 public:
  /// Changes `made`, which it is given after names were taken. `moves`, by layer: it holds no nodes; `same`, by
  /// ValueId: the first value that is equal to it whatever the network is given. All must outlive it.
  BetweenLayers(const Graph& graph, LayerPlaces& made, const std::vector<bool>& moves,
                const std::vector<ValueId>& same);

  /// The nodes without a layer between what a layer reads and the values that it writes, where nothing else is needed
  /// for these: Derived; Guessed where they begin at what another layer makes, and not at a tensor that is known.
  void takeInside(std::size_t layer);
  /// Of a region of which only the two ends are named: the nodes without a layer on the ways from one to the other:
  /// Guessed.
  void takeWays(std::size_t layer);
  /// Places a layer that names nothing. It gets the nodes without a layer between the nodes of the neighbouring layers,
  /// with certainty Guessed, unless another such layer is at the same place: then it is unknown which layer they belong
  /// to, and neither gets them.
  void takeAround(std::size_t layer);
  /// Assigns values to tensors that have no name of the network, where only one value is possible: the only one that
  /// goes from the nodes of the layer that writes the tensor to the nodes of the layers that read it.
  void nameTensors();
  /// Nodes without a layer next to those of the layers around, at most so many.
  std::vector<NodeId> nearest(std::size_t layer, std::size_t most) const;

 private:
  using Nodes = std::set<NodeId>;
  bool isFree(NodeId node) const { return m_holders[node.index].empty(); }
  void hold(std::size_t layer, NodeId node, Certainty certainty);
  std::vector<std::size_t> around(std::size_t layer, bool behind) const;
  bool isAlone(std::size_t layer) const;
  Nodes follow(const std::vector<ValueId>& start) const;
  Nodes trace(const std::vector<ValueId>& start) const;
  Nodes standingAround(std::size_t layer) const;
  bool isBorder(std::size_t layer, NodeId producer) const;
  void nameTensor(std::size_t layer, std::size_t output);

  const Graph& m_graph;
  LayerPlaces& m_made;
  const std::vector<bool>& m_moves;
  const std::vector<ValueId>& m_same;
  std::vector<std::vector<std::size_t>> m_holders;  ///< by NodeId: the layers that hold it
};

}  // namespace fusescope
