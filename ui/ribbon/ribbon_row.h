#pragma once

#include <cstdint>
#include <vector>

namespace fusescope {

/// A bar: where it stands on the ribbon's axis, and what it is of.
struct RibbonBar {
  double begin = 0, end = 0;          ///< in the unit of the widths
  std::int32_t what = -1;             ///< the kernel's place in its lane, the block's in the tree, the segment's
  std::uint32_t first = 0, last = 0;  ///< groups [first, last) that it is over
  double width() const { return end - begin; }
};

/// Bars in a row that are painted as one: those between others that are wide enough to be seen.
struct BarStretch {
  std::uint32_t first = 0, last = 0;  ///< bars [first, last)
  double begin = 0, end = 0;
  bool isSingle = false;  ///< one bar that is wide enough
};

/// Bars side by side, by place, that do not overlap. Looks up what a part of the axis shows in time of what is shown,
/// however many bars there are. A value, const once made.
class RibbonRow {
 public:
  enum class Kind { Segments, Blocks, Kernels };

  RibbonRow() = default;
  RibbonRow(Kind kind, std::size_t of, std::vector<RibbonBar> bars);

  Kind kind() const { return m_kind; }
  std::size_t of() const { return m_of; }  ///< Blocks: how deep; Kernels: the lane
  const std::vector<RibbonBar>& bars() const { return m_bars; }
  /// The bar at `place`; -1: there is none.
  int barAt(double place) const;
  /// The first bar that ends behind `place`; bars().size(): none does.
  std::size_t firstBehind(double place) const;
  /// What [from, to) shows where bars narrower than `least` are gathered. Gathered bars of two bars of `above` that are
  /// wide enough themselves stay apart; null: there is no row above.
  std::vector<BarStretch> stretches(double from, double to, double least, const RibbonRow* above) const;

 private:
  /// The first bar from `i` on that is at least so wide.
  std::size_t nextWide(std::size_t i, double least) const;

  Kind m_kind = Kind::Kernels;
  std::size_t m_of = 0;
  std::vector<RibbonBar> m_bars;
  std::vector<double> m_widest;  ///< of each kStep bars
};

}  // namespace fusescope
