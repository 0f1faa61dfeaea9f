#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "layout/hierarchy.h"

namespace fusescope {

// A level that is far too high for the picture is wrapped: its ranks are cut into stretches that stand side by side,
// each read from the top to the bottom, then the next one to the right. A stretch is a level of its own, whose ports
// are the wires that pass its two cuts; it is ordered as the whole level was. Wires run on in the gutter between two
// stretches: down, to the right, up and into the top of the next one, side by side in the order that they have at the
// cut, so that none of them crosses another there.
//
//     a      ┌──┐        a box; the level's ports stand at its top and its bottom as they do without cuts
//     │      │  d
//     b      │  │
//     │      │  e
//     c      │  │
//     └──────┘  f

/// What a picture that is seen as a whole should be like.
struct Page {
  double proportion = 0;   ///< width to height; 0: nothing is wrapped
  double height = 0;       ///< px: about that of a picture of this proportion
  bool keepsCuts = false;  ///< the earlier picture had the same proportion
};

/// The first rank of each stretch but the first one: cuts of a level whose ranks are in order. Empty: it is not
/// wrapped.
using Cuts = std::vector<int>;

/// `isMost`: the level holds more than half of the picture, and so has its proportion; another one is only cut to the
/// height of the page. By the sizes of the boxes alone, before any of them has a place. Linear in the ranks and links,
/// but for a small number of tries.
/// Cuts that the level had earlier stay if it has about the wanted proportion with them.
std::vector<Cuts> cutsOf(const Level& level, const Page& page, bool isMost);

/// Draws `level`, whose ranks are in order, with these cuts. `draw` gives the layout of one stretch: a level with ranks
/// in order.
using DrawStretch = std::function<Status(Level& stretch)>;
Result<LevelLayout> drawWrapped(const Level& level, const Cuts& cuts, const DrawStretch& draw);

// ---- the parts of drawWrapped()
// --------------------------------------------------------------------------------------

/// A level between two cuts. Its first entities are those of the level, then come the wires of the cut above as ports,
/// then those of the cut below.
struct Stretch {
  Level level;
  std::vector<int> portsAbove, portsBelow;  ///< entities, by wire, left to right
};

/// A level in stretches.
struct Stretches {
  std::vector<std::unique_ptr<Stretch>> all;
  std::vector<int> of, as;  ///< by entity of the whole level: the stretch, and the entity in it; -1: no edge touches it
  struct Piece {
    int stretch, edge;
    int wire;  ///< of the cut below, on which the edge goes on; -1: it ends here
  };
  std::vector<std::vector<Piece>> pieces;  ///< by edge of the whole level, from its upper end to its lower one
};
Stretches stretchesOf(const Level& level, const Cuts& cuts);

/// Puts stretches that have been laid out side by side. `whole`: the level that they are of.
LevelLayout joined(const Level& whole, const Stretches& stretches);

}  // namespace fusescope
