#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ui/canvas/camera.h"
#include "ui/canvas/canvas_builder.h"

namespace fusescope {
namespace {

/// The size of a box, including the gaps around it and the wires in these gaps.
constexpr double kCellWidth = metrics::kWidestBox + 30, kCellHeight = metrics::kBoxHeight + 45;

/// A picture whose estimated area is more than this many times the room is never legible.
constexpr double kMostOfRoom = 1.5;

/// Chooses the blocks that are open.
class InitialBlocks {
 public:
  InitialBlocks(const LevelParts& parts, const QSizeF& view)
      : m_parts(parts),
        m_blocks(parts.blocks),
        m_room(kMostOfRoom * view.width() * view.height() / (Camera::kLegible * Camera::kLegible)) {
    m_children.resize(m_blocks.all().size());
    for (std::size_t b = 0; b < m_blocks.all().size(); ++b)
      if (const int parent = m_blocks.all()[b].parent; parent >= 0) m_children[std::size_t(parent)].push_back(int(b));
    findGroups();
  }

  std::vector<OpenState> choose(const OpenState& least) {
    std::vector<OpenState> states{least};
    std::set<int> refused;
    for (int group = next(refused); group >= 0; group = next(refused)) {
      m_open.insert(group);
      if (area(-1) <= m_room) {
        states.push_back(stateFrom(least));
        continue;
      }
      m_open.erase(group);
      refused.insert(group);
    }
    return states;
  }

 private:
  OpenState stateFrom(OpenState open) const {
    for (std::size_t b = 0; b < m_blocks.all().size(); ++b)
      if (isSeen(int(b)) && m_open.contains(m_groupOf[b])) open.set(moduleContainers(), m_parts.blockHandles[b], true);
    return open;
  }

  const CoverBlock& at(int block) const { return m_blocks.all()[std::size_t(block)]; }

  /// Groups the blocks at the same position of the copies of a repeated block. A group has the index of its block in
  /// the first copy.
  void findGroups() {
    m_groupOf.resize(m_blocks.all().size());
    m_depth.resize(m_blocks.all().size());
    for (int b = 0; b < int(m_blocks.all().size()); ++b) {
      const int parent = at(b).parent;
      m_groupOf[std::size_t(b)] = b;
      m_depth[std::size_t(b)] = parent < 0 ? 0 : m_depth[std::size_t(parent)] + 1;
      if (parent < 0) continue;
      const std::vector<int>& siblings = m_children[std::size_t(parent)];
      const int model = m_groupOf[std::size_t(parent)];
      if (m_blocks.moduleOf(at(parent)).isRun) {
        m_groupOf[std::size_t(b)] = m_groupOf[std::size_t(siblings.front())];
      } else if (model != parent) {
        const auto place = std::size_t(std::ranges::find(siblings, b) - siblings.begin());
        const std::vector<int>& there = m_children[std::size_t(model)];
        if (place < there.size()) m_groupOf[std::size_t(b)] = m_groupOf[std::size_t(there[place])];
      }
    }
  }

  bool isOpen(int block) const { return m_open.contains(m_groupOf[std::size_t(block)]); }
  bool isSeen(int block) const {
    for (int around = at(block).parent; around >= 0; around = at(around).parent)
      if (!isOpen(around)) return false;
    return true;
  }

  /// Returns the group that is opened next: one of the outermost groups, and of these the one with most nodes. Returns
  /// -1 if none is left.
  int next(const std::set<int>& refused) const {
    int best = -1;
    for (int b = 0; b < int(m_groupOf.size()); ++b) {
      if (m_groupOf[std::size_t(b)] != b || m_open.contains(b) || refused.contains(b) || !isSeen(b)) continue;
      const auto rank = [&](int block) { return std::pair(-m_depth[std::size_t(block)], at(block).nodes.size()); };
      if (best < 0 || rank(b) > rank(best)) best = b;
    }
    return best;
  }

  /// Returns the estimated area of the contents of a block, or of the whole picture for -1.
  double area(int block) const {
    double sum = 0;
    int blocks = 0;
    const auto add = [&](int child) {
      ++blocks;
      sum += isOpen(child) ? framed(area(child)) : kCellWidth * kCellHeight;
    };
    if (block >= 0) {
      for (const int child : m_children[std::size_t(block)]) add(child);
    } else {
      for (int b = 0; b < int(m_groupOf.size()); ++b)
        if (at(b).parent < 0) add(b);
      sum += double(m_parts.graph().inputs().size() + m_parts.graph().outputs().size()) * kCellWidth * kCellHeight / 2;
    }
    const int boxes = block < 0 ? m_blocks.outermostBoxes() : at(block).boxes;
    return sum + double(boxes - blocks) * kCellWidth * kCellHeight;
  }
  static double framed(double inside) {
    const double side = std::sqrt(inside);
    return (side + 2 * metrics::kPadding) * (side + 2 * metrics::kPadding + metrics::kFusedHeader);
  }

  const LevelParts& m_parts;
  const CoverBlocks& m_blocks;
  const double m_room;                       ///< the area, in pixels of the layout, at which titles are just legible
  std::vector<std::vector<int>> m_children;  ///< indexed by block
  std::vector<int> m_groupOf, m_depth;       ///< indexed by block
  std::set<int> m_open;                      ///< the groups that are open
};

}  // namespace

std::vector<OpenState> initialStates(const CoverParts& parts, const QSizeF& view) {
  return InitialBlocks(*parts.levels().front().parts, view).choose(openAtFirst(parts.cover()));
}

}  // namespace fusescope
