#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "layout/hierarchy.h"

namespace fusescope {

// A level that is far too high for the picture is wrapped: its ranks are cut into stretches that are placed side by
// side. Each is read from top to bottom, then the next one to the right. A stretch is a level of its own, whose ports
// are the wires that pass its two cuts; the order inside it is that of the whole level. Between two stretches, wires
// continue in a gutter: down, to the right, up, and into the top of the next stretch. They are side by side in the
// order that they have at the cut, so that they do not cross in the gutter.
//
//     a      ┌──┐        a box; the level's ports are at its top and at its bottom, as without cuts
//     │      │  d
//     b      │  │
//     │      │  e
//     c      │  │
//     └──────┘  f

/// What the whole picture should look like.
struct Page {
  double proportion = 0;   ///< width divided by height; 0: nothing is wrapped
  double height = 0;       ///< about the height in px of a picture of this proportion
  bool keepsCuts = false;  ///< the earlier picture had the same proportion
};

/// The first rank of each stretch except the first, for a level whose ranks are in order. If it is empty, the level is
/// not wrapped.
using Cuts = std::vector<int>;

/// Returns candidates for the cuts of a level. If `isMost` is true, the level contains more than half of the picture,
/// and gets its proportion; any other level is cut to the height of the page. The result depends only on the sizes of
/// boxes, before any of them is placed. Earlier cuts of the level are kept if it has about the wanted proportion with
/// them. Apart from a small number of attempts, the time is linear in the ranks and links.
std::vector<Cuts> cutsOf(const Level& level, const Page& page, bool isMost);

/// Draws `level`, whose ranks are in order, with these cuts. `draw` lays out one stretch, a level whose ranks are in
/// order.
using DrawStretch = std::function<Status(Level& stretch)>;
Result<LevelLayout> drawWrapped(const Level& level, const Cuts& cuts, const DrawStretch& draw);

// The parts of drawWrapped().

/// A level between two cuts. Its first entities are those of the level; then come the wires of the cut above, as ports,
/// and those of the cut below.
struct Stretch {
  Level level;
  std::vector<int> portsAbove, portsBelow;  ///< entities, by wire from left to right
};

/// A level divided into stretches.
struct Stretches {
  std::vector<std::unique_ptr<Stretch>> all;
  /// For each entity of the whole level, its stretch and its index in that; -1 for an entity without edges.
  std::vector<int> stretchOf, indexInStretch;
  struct Piece {
    int stretch, edge;
    int wire;  ///< the wire of the cut below on which the edge continues; -1 if the edge ends in this stretch
  };
  std::vector<std::vector<Piece>> pieces;  ///< by edge of the whole level, from its upper end to its lower end
};
Stretches stretchesOf(const Level& level, const Cuts& cuts);

/// Places stretches that were laid out side by side. `whole` is the level that they are parts of.
LevelLayout joined(const Level& whole, const Stretches& stretches);

}  // namespace fusescope
