#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "onnxlib/onnxlib.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// The main graph of a file, in which nodes and tensors are identified by numbers. It is a view: the FileGraph must
/// outlive it. Any graph is allowed, also one with cycles, with tensors that two nodes make (the first one is used), or
/// with tensors that no node makes.
class TensorGraph {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    const onnxlib::FileNode* file = nullptr;
    std::vector<std::uint32_t> reads;  ///< its inputs (kNone for an absent one), then the tensors that its bodies
                                       ///< capture
    std::vector<std::uint32_t> makes;  ///< kNone for an output that is not used
  };
  struct Tensor {
    std::string_view name;
    std::uint32_t producer = kNone;        ///< a node
    std::vector<std::uint32_t> consumers;  ///< nodes, ascending, without duplicates
    const onnxlib::FileTensor* initializer = nullptr;
    bool isInput = false;
    bool isOutput = false;
  };

  explicit TensorGraph(const onnxlib::FileGraph& graph);

  const std::vector<Node>& nodes() const { return m_nodes; }  ///< in the order of the file
  const std::vector<Tensor>& tensors() const { return m_tensors; }
  /// Returns the nodes with producers before consumers; nodes on a cycle are omitted.
  const std::vector<std::uint32_t>& order() const { return m_order; }
  std::uint32_t findTensor(std::string_view name) const;  ///< kNone: there is none
  std::uint32_t findNode(std::string_view name) const;    ///< kNone: there is none, or the name is empty
  const Tensor& tensor(std::uint32_t index) const { return m_tensors[index]; }
  const Node& node(std::uint32_t index) const { return m_nodes[index]; }
  /// Returns whether the tensor is an initializer that is not also an input of the graph.
  bool isConstant(std::uint32_t tensor) const {
    return m_tensors[tensor].initializer != nullptr && !m_tensors[tensor].isInput;
  }

 private:
  std::uint32_t tensorOf(std::string_view name);
  void addNode(const onnxlib::FileNode& node);
  void sortNodes();

  std::vector<Node> m_nodes;
  std::vector<Tensor> m_tensors;
  std::vector<std::uint32_t> m_order;
  std::unordered_map<std::string_view, std::uint32_t> m_tensorByName, m_nodeByName;
};

/// Returns for each tensor the first one that is equal to it for all inputs of the network: results of equal nodes over
/// equal tensors, the input of an Identity, small initializers with equal bytes. Nodes with bodies, nodes of other
/// domains and random nodes are equal to no other node.
std::vector<std::uint32_t> equalTensors(const TensorGraph& graph);

/// Returns for each tensor whether its numbers depend on the numbers of the network's inputs or are random, so that no
/// compiler can know them. Tensors that depend only on extents may be known.
std::vector<bool> varyingTensors(const TensorGraph& graph);

/// Returns the input that `node` returns unchanged (Identity, Dropout outside of training, a product with 1 …), or
/// kNone.
std::uint32_t passedOn(const TensorGraph& graph, std::uint32_t node);

/// What a compiler reveals about the tensors of a network, indexed by tensor.
struct RevealedTensors {
  std::vector<bool> kept;      ///< the compiled network calculates this tensor, or receives it
  std::vector<bool> constant;  ///< the compiled network contains this tensor as a constant
  explicit RevealedTensors(const TensorGraph& network)
      : kept(network.tensors().size()), constant(network.tensors().size()) {}
};

/// A group of kernels between tensors of the network that the compiler reveals. A kernel that only changes the format
/// of a tensor has it as an input and as an output.
struct SliceRegion {
  std::vector<std::uint32_t> inputs, outputs;
};

/// The nodes between the inputs and outputs of a region.
struct SliceCover {
  std::vector<std::uint32_t> nodes;  ///< ascending
  /// true: the outputs need nothing but inputs of the region and constants. false: the region reads something that is
  /// not revealed, or calculates again what other regions calculate.
  bool isClosed = true;
};

/// The fates of the nodes of a network, as far as tensors reveal them.
struct Slices {
  std::vector<SliceCover> covers;  ///< by region
  /// For each node. Kernel: it is in a cover. Folded: it is over constants, or only needed by such nodes. Removed:
  /// nothing needs its result, or only the extents, or it returns its input unchanged. Merged: an equal node is
  /// calculated or folded. View: it only changes extents.
  std::vector<Fate> fates;
};

/// Assigns the nodes of `network` to `regions`, by walking back from their outputs. `equal` is equalTensors(network).
/// It is a pure function and linear, except for nodes that several regions calculate; beyond a limit of such work
/// covers are empty and not closed.
Slices sliceNetwork(const TensorGraph& network, const std::vector<std::uint32_t>& equal,
                    const RevealedTensors& revealed, std::span<const SliceRegion> regions);

}  // namespace fusescope
