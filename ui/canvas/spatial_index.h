#pragma once

#include <QRectF>
#include <vector>

namespace fusescope {

/// Finds rectangles by place, with a packed R-tree. Building takes n log n, and a query takes time that depends on the
/// number of results. It is const after that and may be used by any thread.
class SpatialIndex {
 public:
  SpatialIndex() = default;
  /// Rectangles are identified by their index in `rects`; those without width or height are found too.
  explicit SpatialIndex(const std::vector<QRectF>& rects);
  /// Makes an index of the same rectangles at other places, most of which are unchanged relative to each other,
  /// followed by new ones. This takes linear time, because neighbours stay neighbours.
  SpatialIndex moved(const std::vector<QRectF>& rects) const;
  /// Returns the rectangles that meet `area`, including their borders, in ascending order.
  std::vector<int> meeting(const QRectF& area) const;

 private:
  struct Box {
    double left = 0, top = 0, right = -1, bottom = -1;
    bool meets(const Box& other) const {
      return left <= other.right && other.left <= right && top <= other.bottom && other.top <= bottom;
    }
    void add(const Box& other);
  };
  static Box boxOf(const QRectF& rect) { return {rect.left(), rect.top(), rect.right(), rect.bottom()}; }
  void pack(const std::vector<QRectF>& rects);
  void find(std::size_t level, std::size_t place, const Box& area, std::vector<int>& found) const;

  std::vector<int> m_order;  ///< the leaves: indices of rectangles, with neighbours beside each other
  /// level 0 is over m_order; each box of a further level bounds kFan boxes of the level before
  std::vector<std::vector<Box>> m_levels;
};

}  // namespace fusescope
