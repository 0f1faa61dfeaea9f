#include "ui/ribbon/ribbon_layout.h"

#include <algorithm>

namespace fusescope {

namespace {

double widthIn(const LaneGroup& group, std::size_t lane, const std::vector<LaneShape>& lanes) {
  double width = 0;
  for (const std::uint32_t kernel : group.kernels[lane]) width += lanes[lane].widths[kernel];
  return width;
}

/// The kernel after which a group is named in the rows above: that of the last lane that has one.
struct NamingKernel {
  std::size_t lane = 0;
  std::uint32_t kernel = 0;
};
NamingKernel namingKernel(const LaneGroup& group) {
  for (std::size_t lane = group.kernels.size(); lane-- > 0;)
    if (!group.kernels[lane].empty()) return {lane, group.kernels[lane].front()};
  return {};
}

/// Makes a bar for each sequence of groups with the same key. Groups with a negative key have no bar.
template <class KeyOf>
std::vector<RibbonBar> barsOver(const RibbonLayout& layout, KeyOf keyOf) {
  std::vector<RibbonBar> bars;
  for (std::uint32_t g = 0; g < layout.groups.size(); ++g) {
    const std::int32_t key = keyOf(layout.groups[g]);
    if (key < 0) continue;
    if (!bars.empty() && bars.back().what == key && bars.back().last == g) {
      bars.back().last = g + 1;
      bars.back().end = layout.groupBegin[g + 1];
    } else {
      bars.push_back({layout.groupBegin[g], layout.groupBegin[g + 1], key, g, g + 1});
    }
  }
  return bars;
}

void addRowsAbove(RibbonLayout& layout, const std::vector<LaneShape>& lanes) {
  const auto segmentOf = [&](const LaneGroup& group) {
    const NamingKernel of = namingKernel(group);
    return lanes[of.lane].segments[of.kernel];
  };
  std::vector<RibbonBar> segments = barsOver(layout, segmentOf);
  if (segments.size() > 1) layout.above.emplace_back(RibbonRow::Kind::Segments, 0, std::move(segments));
  for (std::size_t depth = 0;; ++depth) {
    const auto blockOf = [&](const LaneGroup& group) {
      const NamingKernel of = namingKernel(group);
      const std::vector<std::int32_t>& path = lanes[of.lane].blocks[of.kernel];
      return depth < path.size() ? path[depth] : -1;
    };
    std::vector<RibbonBar> blocks = barsOver(layout, blockOf);
    if (blocks.empty()) return;
    layout.above.emplace_back(RibbonRow::Kind::Blocks, depth, std::move(blocks));
  }
}

void addLane(RibbonLayout& layout, std::size_t lane, const LaneShape& shape) {
  std::vector<RibbonBar> bars;
  std::vector<std::uint32_t> barOf(shape.widths.size(), 0);
  for (std::uint32_t g = 0; g < layout.groups.size(); ++g) {
    double at = layout.groupBegin[g];
    for (const std::uint32_t kernel : layout.groups[g].kernels[lane]) {
      barOf[kernel] = static_cast<std::uint32_t>(bars.size());
      bars.push_back({at, at + shape.widths[kernel], static_cast<std::int32_t>(kernel), g, g + 1});
      at = bars.back().end;
    }
  }
  layout.lanes.emplace_back(RibbonRow::Kind::Kernels, lane, std::move(bars));
  layout.barOfKernel.push_back(std::move(barOf));
}

}  // namespace

RibbonLayout layOutRibbon(std::vector<LaneGroup> groups, const std::vector<LaneShape>& lanes) {
  RibbonLayout layout{.groups = std::move(groups)};
  layout.groupBegin.reserve(layout.groups.size() + 1);
  for (const LaneGroup& group : layout.groups) {
    layout.groupBegin.push_back(layout.total);
    double width = 0;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) width = std::max(width, widthIn(group, lane, lanes));
    layout.total += width;
  }
  layout.groupBegin.push_back(layout.total);
  addRowsAbove(layout, lanes);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) addLane(layout, lane, lanes[lane]);
  return layout;
}

}  // namespace fusescope
