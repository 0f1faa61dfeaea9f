#pragma once

#include <span>

#include "calibration/products.h"
#include "calibration/ranges.h"
#include "ir/decision.h"

namespace fusescope {

class Graph;
class GraphEditor;

/// For a conv(x; w, b) or norm(x; w, b) that is followed by products with v:
///   w, b ⟶ w / s, b / s of each channel;  v ⟶ v · s
/// The output of each channel and the weights by which it is multiplied become similar in size (SmoothQuant,
/// equalisation), so that one scale for all channels of the edge loses less. The results in real numbers do not change.
/// A pair is changed only if nothing else reads the edge, and at most a ReLU is between them. The settings' `smoothing`
/// is from 0 (nothing moves) to 1 (all channels become similar before the product). Only constants are edited; nodes
/// and edges stay the same. `ranges` is changed to those of the new numbers. Channels without statistics are not
/// changed.
std::vector<Decision> smoothPairs(const Graph& graph, std::span<const Product> products, GraphEditor& editor,
                                  Ranges& ranges);

}  // namespace fusescope
