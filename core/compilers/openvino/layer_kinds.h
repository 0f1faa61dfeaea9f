#pragma once

#include <string>

#include "compilers/openvino/execution_graph.h"
#include "ir/graph.h"

namespace fusescope {

/// What a layer does with elements.
enum class LayerWork {
  Nothing,      ///< a constant, an input, an output
  Moves,        ///< it moves elements, writes them in another type or format, or only sees them otherwise
  Elementwise,  ///< each element by itself
  Calculates    ///< anything
};
LayerWork workOf(const ExecutionLayer& layer);

/// Whether what it makes lies where what it reads lies. Of its own accord: OpenVINO gives it no primitive then.
bool isView(const ExecutionLayer& layer);
/// Whether it writes a value in another type or format, and only that: some also see it in other extents.
bool isConversion(const ExecutionLayer& layer);

/// What a node does, as far as it says which layers can hold it.
enum class NodeWork { Moves, Casts, Elementwise, Product, Convolution, Other };
NodeWork workOf(const Node& node);

/// Whether it stands for a pattern of many nodes, the first of which may be elementwise: a normalisation, a rotation.
bool isWholePattern(const ExecutionLayer& layer);

/// Whether a layer of this type can do what `node` does. A layer may do several nodes' work: every one may move.
bool canHold(const ExecutionLayer& layer, const Node& node);

/// The kind of a kernel (FusedNode::kind) where it is one of ours, else OpenVINO's word in small letters.
std::string kindOf(const ExecutionLayer& layer, const std::vector<const Node*>& nodes);

}  // namespace fusescope
