#include "ui/canvas/spatial_index.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fusescope {

namespace {

constexpr std::size_t kFan = 16;

}  // namespace

void SpatialIndex::Box::add(const Box& other) {
  left = std::min(left, other.left);
  top = std::min(top, other.top);
  right = std::max(right, other.right);
  bottom = std::max(bottom, other.bottom);
}

// Builds the tree by sort-tile-recursive: the tiles are divided into about as many rows as a row has tiles, and each
// row is sorted from left to right.
SpatialIndex::SpatialIndex(const std::vector<QRectF>& rects) : m_order(rects.size()) {
  if (rects.empty()) return;
  std::iota(m_order.begin(), m_order.end(), 0);
  const auto at = [&](int i) { return rects[static_cast<std::size_t>(i)].center(); };
  std::sort(m_order.begin(), m_order.end(), [&](int a, int b) { return at(a).y() < at(b).y(); });
  const double tiles = std::ceil(static_cast<double>(rects.size()) / kFan);
  const std::size_t row = kFan * static_cast<std::size_t>(std::ceil(std::sqrt(tiles)));
  for (std::size_t i = 0; i < m_order.size(); i += row) {
    const auto from = m_order.begin() + static_cast<std::ptrdiff_t>(i);
    const auto to = m_order.begin() + static_cast<std::ptrdiff_t>(std::min(i + row, m_order.size()));
    std::sort(from, to, [&](int a, int b) { return at(a).x() < at(b).x(); });
  }
  pack(rects);
}

SpatialIndex SpatialIndex::moved(const std::vector<QRectF>& rects) const {
  SpatialIndex index;
  index.m_order = m_order;
  for (std::size_t i = m_order.size(); i < rects.size(); ++i) index.m_order.push_back(static_cast<int>(i));
  if (!rects.empty()) index.pack(rects);
  return index;
}

// Builds the tree over m_order.
void SpatialIndex::pack(const std::vector<QRectF>& rects) {
  m_levels.emplace_back();
  m_levels.back().reserve(rects.size());
  for (const int i : m_order) m_levels[0].push_back(boxOf(rects[static_cast<std::size_t>(i)]));
  while (m_levels.back().size() > 1) {
    const std::vector<Box>& below = m_levels.back();
    std::vector<Box> level;
    for (std::size_t i = 0; i < below.size(); i += kFan) {
      Box box = below[i];
      for (std::size_t j = i + 1; j < std::min(i + kFan, below.size()); ++j) box.add(below[j]);
      level.push_back(box);
    }
    m_levels.push_back(std::move(level));
  }
}

void SpatialIndex::find(std::size_t level, std::size_t place, const Box& area, std::vector<int>& found) const {
  if (!m_levels[level][place].meets(area)) return;
  if (level == 0) return found.push_back(m_order[place]);
  const std::size_t end = std::min((place + 1) * kFan, m_levels[level - 1].size());
  for (std::size_t below = place * kFan; below < end; ++below) find(level - 1, below, area, found);
}

std::vector<int> SpatialIndex::meeting(const QRectF& area) const {
  std::vector<int> found;
  if (!m_levels.empty()) find(m_levels.size() - 1, 0, boxOf(area), found);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace fusescope
