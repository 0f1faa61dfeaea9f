#pragma once

#include <QRectF>
#include <vector>

namespace fusescope {

/// Rectangles found by place: a packed R-tree, made once in n log n, that finds what meets an area in time that depends
/// on what it finds. Const afterwards; any thread.
class SpatialIndex {
 public:
  SpatialIndex() = default;
  /// Rectangles are known by their place in `rects`; those of no width or height are found too.
  explicit SpatialIndex(const std::vector<QRectF>& rects);
  /// The same rectangles elsewhere, most of them as they were to each other, and new ones behind them: in linear time,
  /// for what is beside each other stays so.
  SpatialIndex moved(const std::vector<QRectF>& rects) const;
  /// Which meet `area`, borders included; ascending.
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

  std::vector<int> m_order;                ///< leaves: rectangles, neighbours beside each other
  std::vector<std::vector<Box>> m_levels;  ///< 0: of m_order; each further one bounds kFan of the one before
};

}  // namespace fusescope
