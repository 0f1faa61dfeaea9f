#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <string>

#include "ui/document/plan_snapshot.h"
#include "ui/models/roles.h"

namespace fusescope {

/// The tree segment → block → fused node → node; blocks are nested as on the canvas. A fused node with one node has no
/// children, because it is that node; one with bodies has its bodies as children, and in each the same tree (with
/// segments only if there are several). For what another compiler made, a node may be in several kernels, or beside
/// them if it has none; a kernel without nodes has no children. Rows are made when they are displayed. Names of things
/// in a body are "HOLDER/NAME".
class OutlineModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kName, kType, kColumns };
  enum Role { kKeyRole = Qt::UserRole + 100 };  ///< QString: the identity of a row, equal in the next plan's outline

  using QAbstractItemModel::QAbstractItemModel;
  void setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot);
  /// Returns the deepest row for `node` of the network.
  QModelIndex indexOf(NodeId node) const;
  QModelIndex indexOfFused(std::uint32_t fused) const;
  QModelIndex indexOfSegment(std::uint32_t segment) const;
  /// Returns the row of the block with this handle (PlanSnapshot::moduleHandle()); invalid: there is none.
  QModelIndex indexOfBlock(const std::string& handle) const;
  /// Returns the longest text of a fused node with several nodes in column kType; empty: there is none.
  QString longestType() const;
  /// Returns the deepest row for "HOLDER/NAME", see Selection::inside().
  QModelIndex indexOfInside(const std::string& name) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  enum class Kind { Root, Segment, Block, Fused, Node, Body };
  /// A row. Its index here is the internal id of its QModelIndex.
  struct Entry {
    Kind kind = Kind::Root;
    std::uint32_t level = 0;   ///< the level of the plan that contains it
    std::uint32_t number = 0;  ///< the number of the segment, block, fused node or node, or, for a body, of its level
    std::uint32_t parent = 0;
    int row = 0;
    bool filled = false;
    std::vector<std::uint32_t> children;
  };

  const PlanSnapshot& planOf(const Entry& entry) const { return *m_levels[entry.level].snapshot; }
  QString nameIn(const Entry& entry, const std::string& name) const;
  QVariant keyOf(const QModelIndex& index) const;
  const Entry& entryAt(const QModelIndex& index) const;
  const Entry& filled(std::uint32_t id) const;
  void add(std::uint32_t parent, Kind kind, std::uint32_t level, std::uint32_t number) const;
  void addSegments(std::uint32_t parent, std::uint32_t level) const;
  /// Adds the blocks, fused nodes and nodes without one that are in `block`, or, if it is -1, in the segment and in no
  /// block.
  void addContent(std::uint32_t parent, std::uint32_t level, std::uint32_t segment, int block) const;
  void addBodies(std::uint32_t parent, std::uint32_t level, NodeId holder) const;
  /// Returns the child of `parent` that is the node or contains it, or `parent` if there is none.
  std::uint32_t towards(std::uint32_t parent, NodeId node) const;
  std::uint32_t descend(std::uint32_t from, NodeId node, bool wholeKernel) const;
  std::uint32_t entryOfBlock(std::uint32_t level, int block) const;
  std::uint32_t entryOfLevel(const PlanSnapshot* plan) const;
  QModelIndex indexFor(std::uint32_t id) const;

  QVariant segmentData(const Entry& entry, int column, int role) const;
  QVariant blockData(const Entry& entry, int column, int role) const;
  QVariant fusedData(const Entry& entry, int column, int role) const;
  QString fusedTip(const Entry& entry, const FusedNode& fused) const;
  QVariant nodeData(const Entry& entry, NodeId node, int column, int role) const;
  QVariant bodyData(const Entry& entry, int column, int role) const;

  std::shared_ptr<const PlanSnapshot> m_snapshot;
  std::vector<PlanSnapshot::Level> m_levels;
  /// For a level, the innermost block that contains each fused node and each node without one; -1 if none does.
  struct Homes {
    std::vector<int> ofFused, ofNode;
  };
  std::vector<Homes> m_homes;
  mutable std::vector<Entry> m_entries;  ///< the root first
};

}  // namespace fusescope
