#pragma once

#include <memory>
#include <vector>

#include "backends/backend.h"
#include "ir/graph.h"

namespace fusescope {

/// A segment of a plan as a compiler gets it: a graph of its own.
struct SegmentRequest {
  /// Of the segment's nodes alone, with ids of its own: nodes in their order, at the types that the network declares,
  /// with every extent known. Its constants have their data and are the segment's weights.
  std::shared_ptr<const Graph> graph;
  std::vector<TensorDesc> inputs, outputs;  ///< as the graph's, as they lie in memory: at stored types, plain
  std::vector<ValueId> weightSlots;         ///< the constants, in the order in which the nodes read them
  std::vector<DataType> calculates;  ///< by NodeId: what the plan asks a node to calculate in; Undefined: no floats
  int threads = 1;
};

/// Compiles whole segments, fusing and choosing types as it likes. Stateless and safe to use from several threads.
class SegmentCompiler {
 public:
  virtual ~SegmentCompiler() = default;
  /// Code whose operands are as the graph's inputs and outputs, and which says what was made of the segment
  /// (Code::readBack()). Errors: it cannot be compiled; they end the build.
  virtual Result<std::unique_ptr<const Code>> compile(const SegmentRequest& request) const = 0;
};

}  // namespace fusescope
