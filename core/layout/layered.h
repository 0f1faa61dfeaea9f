#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "layout/level.h"

namespace fusescope {

// The layered layout of one level, after Sugiyama. Every phase takes linear time or n log n. Its steps are:
//
// clang-format off
//  1 ranks      Edges that close a cycle are reversed. The rank of a node is its longest path from the top; a node that
//               nothing pulls upwards is placed close to its consumers (rankLevel).
//  2 lanes      An edge that passes ranks gets a point ("bend") in each of them. All edges of one source share these
//               bends, so that an input of every block takes one lane and not one per block. If there would be too many
//               bends, the longest lanes are drawn outside (addBends).
//  3 order      A depth-first order, then barycentre sweeps and exchanges of neighbours, through the containers too.
//               The order with the fewest crossings is used (orderHierarchy).
//  4 alignment  A set of edges that do not cross is drawn straight, critical paths first. The nodes that they connect
//               form columns (placeAcross).
//  5 columns    Each column moves, between its neighbours, to the weighted median of what it is connected to
//               (placeAcross).
//  6 curves     An edge bends only in the gaps between ranks, so that it never runs through a box (routeEdges).
// clang-format on
//
// A level that is far too high for the picture is cut between ranks after step 3. Steps 4 to 6 are then done for each
// stretch separately (wrapping.h).

/// A link between adjacent ranks. A node is an entity (an index below entityCount) or a bend.
struct RankLink {
  int upper = 0, lower = 0;            ///< nodes of adjacent ranks
  int upperPort = -1, lowerPort = -1;  ///< the port of the container at which it ends
  int upperEdge = -1, lowerEdge = -1;  ///< an edge that fixes where it is attached there
  double upperX = 0, lowerX = 0;       ///< offset of the attachment from the node's centre, in px
  bool upperFixed = false, lowerFixed = false;
  bool critical = false;  ///< it is on a longest path
};

/// How an edge of the level is drawn: through `links` from top to bottom, or along an outer lane if there are none.
struct EdgePath {
  std::vector<int> links;
  bool reversed = false;
};

using RankOrder = std::vector<std::vector<int>>;  ///< the nodes of each rank, from left to right

struct LayeredState {
  const LevelGraph* level = nullptr;
  int entityCount = 0;
  std::vector<int> topological;  ///< entities, producers first, after edges were reversed
  std::vector<bool> reversed;    ///< by edge
  std::vector<int> rank;         ///< by node; -1 for a box without edges
  RankOrder ranks;
  std::vector<int> position;  ///< by node: its index in its rank
  std::vector<RankLink> links;
  std::vector<std::vector<int>> above, below;  ///< by node: links to the rank above, and to the rank below
  std::vector<EdgePath> paths;                 ///< by edge
  std::vector<double> centre;                  ///< by node: x in px
  std::vector<double> rankTop, rankBottom;
  bool isBend(int node) const { return node >= entityCount; }
  LevelEntity::Kind kind(int node) const { return isBend(node) ? LevelEntity::Kind::Box : level->entities[node].kind; }
  double width(int node) const;
  double height(int node) const;
};

/// Do steps 1 and 2, which depend only on the connections and not on sizes. `level` must outlive the state.
LayeredState rankedLevel(const LevelGraph& level);
void rankLevel(LayeredState& state);
/// Adds about `most` bends at most. Lanes that would need more bends are drawn outside.
void addBends(LayeredState& state, std::size_t most);
std::size_t mostBends(std::size_t entities);
Status placeAcross(LayeredState& state, const StopToken& stop);
/// Computes the heights of ranks, the attachments of edges, and their curves.
LevelLayout routeEdges(LayeredState& state);
/// Places boxes without edges in rows below the rest, about as wide as the rest or as a page.
void placeLonely(const LayeredState& state, LevelLayout& layout);

/// Does steps 4 to 6 for a level whose ranks are in order.
Result<LevelLayout> drawLayered(LayeredState& state, const StopToken& stop);

}  // namespace fusescope
