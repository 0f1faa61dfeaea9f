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

/// n log n and the pairs of pieces that share a height; for containers that Graphviz may draw.
DrawingQuality qualityOf(const std::vector<PlacedEdge>& edges);

}  // namespace fusescope
