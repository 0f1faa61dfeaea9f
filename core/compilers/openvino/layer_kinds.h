#pragma once

#include <string>

#include "compilers/openvino/execution_graph.h"

namespace fusescope {

struct Node;

/// What a layer does with elements.
enum class LayerWork {
  Nothing,      ///< it is a constant, an input or an output
  Moves,        ///< it moves elements, converts their type or format, or is a view
  Elementwise,  ///< it calculates element by element
  Calculates    ///< it may calculate anything
};
LayerWork workOf(const ExecutionLayer& layer);

/// Returns whether its output uses the memory of its input. OpenVINO then gives it no primitive.
bool isView(const ExecutionLayer& layer);
/// Returns whether it only converts the type or format of a value, possibly with other extents.
bool isConversion(const ExecutionLayer& layer);

/// What a node does, as far as this decides which layers may calculate it.
enum class NodeWork { Moves, Casts, Elementwise, Product, Convolution, Other };
NodeWork workOf(const Node& node);

/// Returns whether it replaces a pattern of many nodes, such as a normalisation or a rotation, whose first node may be
/// elementwise.
bool isWholePattern(const ExecutionLayer& layer);

/// Returns whether a layer of this type can calculate `node`, possibly together with other nodes. Every layer may move
/// elements.
bool canHold(const ExecutionLayer& layer, const Node& node);

/// Returns the kind of a kernel (FusedNode::kind) if it is one of ours, otherwise OpenVINO's word in lower case.
std::string kindOf(const ExecutionLayer& layer, const std::vector<const Node*>& nodes);

}  // namespace fusescope
