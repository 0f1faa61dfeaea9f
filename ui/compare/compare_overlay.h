#pragma once

#include <map>
#include <set>
#include <unordered_map>

#include "ui/compare/compare_scene.h"
#include "ui/compare/side_scene.h"

namespace fusescope {

/// What differs, by what it is about. Refers to the groups.
class CompareWords {
 public:
  explicit CompareWords(const std::vector<DifferenceGroup>& groups);

  /// What differs between the kernels of which one side's has this identity; null: nothing.
  const DifferenceGroup* ofKernel(const Hash128& identity) const;
  /// What differs about a node, by the union's name; null: nothing.
  const DifferenceGroup* ofNode(const std::string& name) const;

 private:
  std::map<Hash128, const DifferenceGroup*> m_kernels;
  std::unordered_map<std::string, const DifferenceGroup*> m_nodes;
};

/// Makes what one side of a comparison draws on the union's scene. Refers to what it is made of.
class CompareOverlay {
 public:
  CompareOverlay(const Compared& compared, const CompareWords& words, const BuiltCanvas& built, const SideScene& mine,
                 const SideScene& other, bool isA);

  /// Of groups whose kernels differ and that are open: what differs, in place of a title.
  const std::map<int, QString>& titles() const { return m_titles; }
  /// `own`, `others`: the scenes of this side and of the other one.
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
  const CompareWords& m_words;
  const BuiltCanvas& m_built;
  const SideScene& m_mine;
  const SideScene& m_other;
  std::shared_ptr<CanvasOverlay> m_overlay;
  std::map<int, QString> m_titles;
};

}  // namespace fusescope
