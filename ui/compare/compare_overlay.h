#pragma once

#include <map>
#include <set>
#include <unordered_map>

#include "ui/canvas/canvas_overlay.h"
#include "ui/compare/compared.h"
#include "ui/compare/side_scene.h"

namespace fusescope {

/// Finds differences by their subject. It refers to the groups.
class DifferenceIndex {
 public:
  explicit DifferenceIndex(const std::vector<DifferenceGroup>& groups);

  /// Returns the difference of the kernels that include a kernel of one side with this identity; null: none.
  const DifferenceGroup* ofKernel(const Hash128& identity) const;
  /// Returns the difference of a node with this name in the union; null: none.
  const DifferenceGroup* ofNode(const std::string& name) const;

 private:
  std::map<Hash128, const DifferenceGroup*> m_kernels;
  std::unordered_map<std::string, const DifferenceGroup*> m_nodes;
};

/// Makes the overlay of one side of a comparison on the union's scene. It refers to its arguments.
class CompareOverlay {
 public:
  CompareOverlay(const Compared& compared, const DifferenceIndex& words, const BuiltCanvas& built,
                 const SideScene& mine, const SideScene& other, bool isA);

  /// Returns for open groups whose kernels differ what differs, to be shown in place of a title.
  const std::map<int, QString>& titles() const { return m_titles; }
  /// Makes the overlay. `own` is the scene of this side, and `others` that of the other side.
  std::shared_ptr<const CanvasOverlay> make(const CanvasScene& own, const CanvasScene& others);

 private:
  void setItems();
  void setGroup(int item, const UnionLevel& level, int group);
  void setNodes(const CanvasLevel& level);
  void countInside(const CanvasLevel& level);
  void addKernels(const CanvasScene& own);
  void setEdges(const CanvasScene& own, const CanvasScene& others);
  void mark(int item, DiffSign sign, const QString& words);
  bool groupDiffers(const UnionLevel& level, int group) const;
  QString wordsOf(const DifferenceGroup& group) const;
  QString kernelText(const UnionLevel& level, std::uint32_t kernel) const;

  const Compared& m_compared;
  const DifferenceIndex& m_words;
  const BuiltCanvas& m_built;
  const SideScene& m_mine;
  const SideScene& m_other;
  std::shared_ptr<CanvasOverlay> m_overlay;
  std::map<int, QString> m_titles;
};

}  // namespace fusescope
