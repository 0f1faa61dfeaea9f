#pragma once

#include "layout/layout.h"

namespace fusescope {

/// How easily edges can be followed: what layouts are compared by.
struct DrawingQuality {
  std::size_t crossings = 0;  ///< of pieces of different edges, taken as straight
  std::size_t bends = 0;      ///< where an edge's pieces meet
  double length = 0;          ///< px
  /// Fewer crossings, or as many and shorter edges.
  bool betterThan(const DrawingQuality& other) const {
    return crossings != other.crossings ? crossings < other.crossings : length < other.length;
  }
};

/// What lies exactly on top of each other is seen once and counts once. n log n and the pairs of pieces that share a
/// height; for containers that Graphviz may draw.
DrawingQuality qualityOf(const std::vector<PlacedEdge>& edges);

/// Crossings near the border of a container, inside or outside, of two edges that both pass it.
std::size_t crossingsAtBorders(const LayoutGraph& graph, const LayoutGeometry& geometry);

}  // namespace fusescope
