#pragma once

#include <span>

#include "calibration/products.h"
#include "calibration/ranges.h"
#include "ir/decision.h"

namespace fusescope {

/// conv(x; w, b) or norm(x; w, b), then products by v:  w, b ⟶ w / s, b / s of each channel;  v ⟶ v · s
/// What a channel gives and what it is multiplied by become alike (SmoothQuant, equalisation), so that one scale for
/// all channels of the edge between loses less. Real numbers stay what they are. A pair allows it where nothing else
/// reads the edge, and nothing but a ReLU stands between. `strength` from 0 (nothing moves) to 1 (all channels become
/// alike before the product). Edits constants alone: nodes and edges stay. `ranges` becomes that of the new numbers.
/// Channels without statistics stay.
std::vector<Decision> smoothPairs(const Graph& graph, std::span<const Product> products, GraphEditor& editor,
                                  Ranges& ranges);

}  // namespace fusescope
