#pragma once

#include <cstdint>
#include <vector>

namespace fusescope {

/// A bar: its position on the ribbon's axis, and what it represents.
struct RibbonBar {
  double begin = 0, end = 0;          ///< in the unit of the widths
  std::int32_t what = -1;             ///< index of the kernel in its lane, of the block in the tree, or of the segment
  std::uint32_t first = 0, last = 0;  ///< the groups [first, last) that it spans
  double width() const { return end - begin; }
};

/// Consecutive bars that are painted as one, because each is too narrow to be seen.
struct BarStretch {
  std::uint32_t first = 0, last = 0;  ///< bars [first, last)
  double begin = 0, end = 0;
  bool isSingle = false;  ///< a single bar that is wide enough
};

/// Bars side by side, ordered by position, which do not overlap. Finding what a part of the axis shows takes time that
/// depends only on that part. It is a value, const after it is made.
class RibbonRow {
 public:
  enum class Kind { Segments, Blocks, Kernels };

  RibbonRow() = default;
  RibbonRow(Kind kind, std::size_t of, std::vector<RibbonBar> bars);

  Kind kind() const { return m_kind; }
  std::size_t of() const { return m_of; }  ///< for Blocks the depth; for Kernels the lane
  const std::vector<RibbonBar>& bars() const { return m_bars; }
  /// Returns the bar at `place`; -1: there is none.
  int barAt(double place) const;
  /// Returns the first bar that ends after `place`; bars().size(): none does.
  std::size_t firstBehind(double place) const;
  /// Returns what [from, to) shows if bars narrower than `least` are painted together. Bars below two different bars of
  /// `above` that are wide enough are not joined; null: there is no row above.
  std::vector<BarStretch> stretches(double from, double to, double least, const RibbonRow* above) const;

 private:
  /// Returns the first bar from `i` on that has at least this width.
  std::size_t nextWide(std::size_t i, double least) const;

  Kind m_kind = Kind::Kernels;
  std::size_t m_of = 0;
  std::vector<RibbonBar> m_bars;
  std::vector<double> m_widest;  ///< for each kStep bars
};

}  // namespace fusescope
