#pragma once

#include <cstdint>
#include <vector>

#include "compilers/openvino/execution_graph.h"
#include "compilers/openvino/op_nodes.h"

namespace fusescope {

/// When a layer runs, and whether it is a kernel at all.
enum class LayerRole {
  Kernel,    ///< in each run
  Once,      ///< it prepares constants: everything that it reads is constant
  Constant,  ///< it is a constant
  Border     ///< an input or output of the network
};

std::vector<LayerRole> layerRoles(const ExecutionGraph& graph);

/// An operator that a layer names.
struct NamedOp {
  std::uint32_t op = 0;
  bool isWhole = true;  ///< the name is the operator's; else it begins with it: "#12/transpose_b"
};

/// What the layers of an execution graph are to the file's tensors. All vectors are by layer.
struct LayerTensors {
  static constexpr std::uint32_t kNone = TensorGraph::kNone;

  std::vector<LayerRole> roles;
  std::vector<std::vector<NamedOp>> named;
  std::vector<std::vector<std::string>> madeUp;     ///< names that are of no operator of the imported network
  std::vector<std::vector<std::uint32_t>> tensors;  ///< by output: a tensor of the file; else kNone
  std::vector<bool> isNamed;                        ///< by operator: a layer names it
};

/// What is known of the tensors of a file, by tensor.
struct FileTensorFacts {
  std::vector<std::int64_t> elements;  ///< -1: open, or not known
  std::vector<bool> varies;            ///< varyingTensors()
};

/// What a layer makes is what the operator makes that it has its own name of, where neither the extents speak against
/// it nor that the layer runs once and the tensor depends on what the network is given.
LayerTensors layerTensors(const ExecutionGraph& graph, const ImportedNetwork& imported, const OpNodes& ops,
                          const FileTensorFacts& facts);

}  // namespace fusescope
