#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnxlib/onnxlib.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// The main graph of a file, where nodes and tensors have numbers. A view: the FileGraph must outlive it. Any graph is
/// taken, also one with cycles, with tensors that two nodes make (the first counts), or that nobody makes.
class TensorGraph {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    const onnxlib::FileNode* file = nullptr;
    std::vector<std::uint32_t> reads;  ///< tensors: its inputs (kNone for an absent one), then what its bodies capture
    std::vector<std::uint32_t> makes;  ///< tensors; kNone for an output that nobody asked for
  };
  struct Tensor {
    std::string_view name;
    std::uint32_t producer = kNone;        ///< a node
    std::vector<std::uint32_t> consumers;  ///< nodes, ascending, each once
    const onnxlib::FileTensor* initializer = nullptr;
    bool isInput = false;
    bool isOutput = false;
  };

  explicit TensorGraph(const onnxlib::FileGraph& graph);

  const std::vector<Node>& nodes() const { return m_nodes; }  ///< as in the file's list
  const std::vector<Tensor>& tensors() const { return m_tensors; }
  /// Nodes, producers before consumers; those on a cycle are missing.
  const std::vector<std::uint32_t>& order() const { return m_order; }
  std::uint32_t findTensor(std::string_view name) const;  ///< kNone: there is none
  std::uint32_t findNode(std::string_view name) const;    ///< kNone: there is none, or the name is empty
  const Tensor& tensor(std::uint32_t index) const { return m_tensors[index]; }
  const Node& node(std::uint32_t index) const { return m_nodes[index]; }
  /// An initializer that no input of the graph overrides.
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

/// For each tensor the first one that is equal to it whatever the network is given: results of equal nodes over equal
/// tensors, what an Identity passes on, small initializers with equal bytes. Nodes with bodies, nodes of other domains
/// and random ones are equal to none.
std::vector<std::uint32_t> equalTensors(const TensorGraph& graph);

/// By tensor: its numbers depend on those that the network is given, or are random; no compiler can know them. What is
/// made of extents alone may be known.
std::vector<bool> varyingTensors(const TensorGraph& graph);

/// The input that `node` hands on as it is (Identity, Dropout outside of training, a product with 1 …), else kNone.
std::uint32_t passedOn(const TensorGraph& graph, std::uint32_t node);

/// What a compiler tells of the tensors of a network, by tensor.
struct ToldTensors {
  std::vector<bool> kept;      ///< what it made calculates this tensor, or is handed it
  std::vector<bool> constant;  ///< what it made holds this tensor as a constant
  explicit ToldTensors(const TensorGraph& network)
      : kept(network.tensors().size()), constant(network.tensors().size()) {}
};

/// Kernels of a compiler that stand together between tensors that it tells of: those of the network. A kernel that only
/// changes the format of a tensor has it on both sides.
struct SliceRegion {
  std::vector<std::uint32_t> inputs, outputs;
};

/// The nodes that lie between the inputs and outputs of a region.
struct SliceCover {
  std::vector<std::uint32_t> nodes;  ///< ascending
  /// Nothing else is needed for the outputs than inputs of the region and constants. If not, the region reads what is
  /// not told, or calculates what others calculate, too.
  bool isClosed = true;
};

/// What became of the nodes of a network, as far as tensors tell.
struct Slices {
  std::vector<SliceCover> covers;  ///< by region
  /// By node. Kernel: it is in a cover. Folded: over constants, or needed only by such. Removed: nobody needs it, or
  /// only its extents, or it hands on what it reads. Merged: an equal node is calculated or folded. View: it gives what
  /// it reads other extents.
  std::vector<Fate> fates;
};

/// Binds the nodes of `network` to `regions`, by walking back from their outputs. `equal`: equalTensors(network). Pure
/// and linear, but for nodes that several regions calculate; beyond a limit of such work covers are empty and not
/// closed.
Slices sliceNetwork(const TensorGraph& network, const std::vector<std::uint32_t>& equal, const ToldTensors& told,
                    std::span<const SliceRegion> regions);

}  // namespace fusescope
