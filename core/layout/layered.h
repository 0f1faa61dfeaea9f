#pragma once

#include <utility>
#include <vector>

#include "layout/level.h"

namespace fusescope {

// The layered layout of one level, after Sugiyama, with every phase linear or n log n:
//
//  1 ranks      edges that close a cycle are turned round; longest path from the top; what nothing pulls upwards sinks
//  to
//               its consumers (rankLevel)
//  2 lanes      an edge that passes ranks gets one point ("bend") in each; all edges of one source share them, so an
//  input
//               of every block costs one lane and not one per block. Over a budget, the longest lanes run outside
//               (addBends)
//  3 order      depth first, then barycentre sweeps and exchanges of neighbours, through the containers too; the best
//  by
//               crossings is kept (orderHierarchy)
//  4 alignment  a non-crossing choice of edges is drawn straight, critical paths first: columns of nodes (placeAcross)
//  5 columns    moved between their neighbours to the weighted median of what they are tied to (placeAcross)
//  6 curves     an edge bends only in the gaps between ranks, so it never runs through a box (routeEdges)
//
// A level that is far too high for the picture is cut between ranks after step 3, and steps 4 to 6 are done for each
// stretch by itself (wrapping.h).

/// A node is an entity (index below entityCount) or a bend.
struct RankLink {
  int upper = 0, lower = 0;            ///< nodes of adjacent ranks
  int upperPort = -1, lowerPort = -1;  ///< of the container that it ends at
  int upperEdge = -1, lowerEdge = -1;  ///< an edge that says where it must attach there
  double upperX = 0, lowerX = 0;       ///< offset of the attachment from the node's centre
  bool upperFixed = false, lowerFixed = false;
  bool critical = false;  ///< on a longest path
};

/// How an edge of the level is drawn: down through `links`, or along an outside lane if there are none.
struct EdgePath {
  std::vector<int> links;
  bool reversed = false;
};

using RankOrder = std::vector<std::vector<int>>;  ///< nodes of each rank, left to right

struct LayeredState {
  const LevelGraph* level = nullptr;
  int entityCount = 0;
  std::vector<int> topological;  ///< entities, producers first (after turning edges round)
  std::vector<bool> reversed;    ///< by edge
  std::vector<int> rank;         ///< by node; -1: a box that no edge touches
  RankOrder ranks;
  std::vector<int> position;  ///< by node: index in its rank
  std::vector<RankLink> links;
  std::vector<std::vector<int>> above, below;  ///< by node: links to the rank above, below
  std::vector<EdgePath> paths;                 ///< by edge
  std::vector<double> centre;                  ///< by node: x
  std::vector<double> rankTop, rankBottom;
  bool isBend(int node) const { return node >= entityCount; }
  LevelEntity::Kind kind(int node) const { return isBend(node) ? LevelEntity::Kind::Box : level->entities[node].kind; }
  double width(int node) const;
  double height(int node) const;
};

/// Steps 1 and 2: they depend on what is connected alone, not on sizes. `level` must outlive the state.
LayeredState rankedLevel(const LevelGraph& level);
void rankLevel(LayeredState& state);
/// At most about `most` bends; the lanes that would need more run outside.
void addBends(LayeredState& state, std::size_t most);
std::size_t mostBends(std::size_t entities);
Status placeAcross(LayeredState& state, const StopToken& stop);
/// Heights of the ranks, attachments, curves.
LevelLayout routeEdges(LayeredState& state);
/// Boxes that no edge touches: rows under the rest, about as wide as it or as a page.
void placeLonely(const LayeredState& state, LevelLayout& layout);

/// Steps 4 to 6 of a level whose ranks are in order.
Result<LevelLayout> drawLayered(LayeredState& state, const StopToken& stop);

}  // namespace fusescope
