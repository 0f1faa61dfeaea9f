#pragma once

#include <cstdint>
#include <vector>

#include "compilers/openvino/execution_graph.h"
#include "compilers/openvino/op_nodes.h"

namespace fusescope {

/// When a layer runs, and whether it is a kernel.
enum class LayerRole {
  Kernel,    ///< it runs in each run
  Once,      ///< it prepares constants, because everything that it reads is constant
  Constant,  ///< it is a constant
  Border     ///< it is an input or output of the network
};

std::vector<LayerRole> layerRoles(const ExecutionGraph& graph);

/// An operator whose name a layer contains.
struct NamedOp {
  std::uint32_t op = 0;
  bool isWhole = true;  ///< the name is the operator's; otherwise it only begins with it: "#12/transpose_b"
};

/// How the layers of an execution graph relate to the file's tensors. All vectors are indexed by layer.
struct LayerTensors {
  static constexpr std::uint32_t kNone = TensorGraph::kNone;

  std::vector<LayerRole> roles;
  std::vector<std::vector<NamedOp>> named;
  std::vector<std::vector<std::string>> madeUp;     ///< names that no operator of the imported network has
  std::vector<std::vector<std::uint32_t>> tensors;  ///< for each output, the tensor of the file, or kNone
  std::vector<bool> isNamed;                        ///< for each operator, whether a layer names it
};

/// Facts about the tensors of a file, indexed by tensor.
struct FileTensorFacts {
  std::vector<std::int64_t> elements;  ///< -1: open or unknown
  std::vector<bool> varies;            ///< varyingTensors()
};

/// Assigns tensors to layers. A layer makes the result of the operator whose whole name it has, unless the extents
/// contradict this, or the layer runs only once although the tensor depends on the network's inputs.
LayerTensors layerTensors(const ExecutionGraph& graph, const ImportedNetwork& imported, const OpNodes& ops,
                          const FileTensorFacts& facts);

}  // namespace fusescope
