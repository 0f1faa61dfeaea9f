#pragma once

#include "layout/layout.h"

namespace fusescope {

/// Measures how easily the edges of a drawing can be followed; layouts are compared by them.
struct DrawingQuality {
  std::size_t crossings = 0;  ///< crossings of pieces of different edges, which are treated as straight
  std::size_t bends = 0;      ///< the number of places where two pieces of an edge meet
  double length = 0;          ///< total length in px
  /// Returns whether there are fewer crossings, or equally many and shorter edges.
  bool betterThan(const DrawingQuality& other) const {
    return crossings != other.crossings ? crossings < other.crossings : length < other.length;
  }
};

/// Measures a drawing. Pieces that lie exactly on top of each other count once. The time is n log n plus the number of
/// pairs of pieces at a common height; it is meant for containers that are small enough for Graphviz.
DrawingQuality qualityOf(const std::vector<PlacedEdge>& edges);

/// Counts the crossings near the border of a container, inside or outside, of two edges that both cross the border.
std::size_t crossingsAtBorders(const LayoutGraph& graph, const LayoutGeometry& geometry);

}  // namespace fusescope
