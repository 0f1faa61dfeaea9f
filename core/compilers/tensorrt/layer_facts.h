#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/tensorrt/layer_list.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

class Graph;

// These translate what a layer of TensorRT says about itself, for engines of Fusescope and for engines that were built
// elsewhere.

/// Returns the type in which a layer calculates: the type of the factors for products, otherwise the single type of all
/// floats that it reads and writes. Undefined: it is not reported.
DataType computeOf(const ListedLayer& layer);

/// Returns the memory layout of a tensor without its type: "Linear", "Channel major, channel % 8 == 0"; with the order
/// of axes if that is unusual. Empty: it is not reported.
std::string formatOf(const ListedTensor& tensor);

/// Returns the kind (FusedNode::kind) if it is one of ours, otherwise the type of the layer.
std::string kindOf(const ListedLayer& layer, const std::vector<std::pair<NodeId, Certainty>>& nodes,
                   const Graph& graph);

/// Returns whether a layer of this type calculates nothing: it synchronises streams, prepares memory or computes
/// extents.
bool onlySynchronises(const ListedLayer& layer);

/// Returns whether a layer of this type calculates nothing of a network: it synchronises, copies or reformats, unless
/// that reformat is a quantiser of the network.
bool onlyMoves(const ListedLayer& layer);

/// Returns the number of the region in the name of a kernel, "0" in "n3_myl0_12"; empty if it was not made in a region.
std::string_view regionNumber(std::string_view layer);

/// Returns the conversion that a layer with one input and one output performs, if its output has another type or
/// format. `read` and `written` are the values of both, as far as they are known.
std::optional<ReadBackConversion> conversionBy(const ListedLayer& layer, ValueId read, ValueId written,
                                               const std::string& kernel);

}  // namespace fusescope
