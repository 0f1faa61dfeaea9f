#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/tensorrt/layer_list.h"
#include "planning/read_back_plan.h"

namespace fusescope {

// What a layer of TensorRT says of itself, in our words: of engines that Fusescope has built as of those of others.

/// What a layer calculates in. Of products what they multiply; of others the one type of all floats that they read and
/// write. Undefined: it does not say.
DataType computeOf(const ListedLayer& layer);

/// How a tensor lies in memory, without its type: "Linear", "Channel major, channel % 8 == 0"; with the order of the
/// axes where that is another. Empty: it does not say.
std::string formatOf(const ListedTensor& tensor);

/// As FusedNode::kind where it is one of ours, else the type of the layer.
std::string kindOf(const ListedLayer& layer, const std::vector<std::pair<NodeId, Certainty>>& nodes,
                   const Graph& graph);

/// Whether a layer calculates nothing by its type: it synchronises streams, prepares memory or asks for extents.
bool onlySynchronises(const ListedLayer& layer);

/// Whether a layer calculates nothing of a network by its type: it synchronises, copies or reformats, unless a
/// quantiser of the network is that reformat.
bool onlyMoves(const ListedLayer& layer);

/// "0" of "n3_myl0_12": the number of the region that a kernel was made in; empty: in none.
std::string_view regionNumber(std::string_view layer);

/// What a layer of one input and one output does to it, if what it writes has another type or format. `read` and
/// `written` are what is known of both.
std::optional<ReadBackConversion> conversionBy(const ListedLayer& layer, ValueId read, ValueId written,
                                               const std::string& kernel);

}  // namespace fusescope
