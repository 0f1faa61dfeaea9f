#include "ui/models/outline_model.h"

#include <algorithm>

#include "ir/graph.h"
#include "ui/document/qt_text.h"

namespace fusescope {

void OutlineModel::setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot) {
  beginResetModel();
  m_snapshot = std::move(snapshot);
  m_levels = m_snapshot ? m_snapshot->levels() : std::vector<PlanSnapshot::Level>();
  m_homes.clear();
  for (const PlanSnapshot::Level& level : m_levels) {
    const PlanSnapshot& of = *level.snapshot;
    Homes& homes = m_homes.emplace_back(
        Homes{std::vector<int>(of.cover->fusedNodes.size(), -1), std::vector<int>(of.graph().nodeIdLimit(), -1)});
    const std::vector<CoverBlock>& blocks = of.blocks->all();
    for (std::size_t b = 0; b < blocks.size(); ++b) {  // inner blocks come later
      for (const int kernel : blocks[b].kernels) homes.ofFused[static_cast<std::size_t>(kernel)] = static_cast<int>(b);
      for (const NodeId node : blocks[b].nodes) homes.ofNode[node.index] = static_cast<int>(b);
    }
  }
  m_entries.assign(1, Entry());
  m_entries.front().filled = !m_snapshot;
  endResetModel();
}

void OutlineModel::add(std::uint32_t parent, Kind kind, std::uint32_t level, std::uint32_t number) const {
  const auto id = static_cast<std::uint32_t>(m_entries.size());
  const int row = static_cast<int>(m_entries[parent].children.size());
  m_entries.push_back({.kind = kind, .level = level, .number = number, .parent = parent, .row = row});
  m_entries[parent].children.push_back(id);
}

void OutlineModel::addSegments(std::uint32_t parent, std::uint32_t level) const {
  const auto count = static_cast<std::uint32_t>(m_levels[level].snapshot->cover->segments.size());
  for (std::uint32_t i = 0; i < count; ++i) add(parent, Kind::Segment, level, i);
  // These are the kernels whose segment is not reported.
  addContent(parent, level, SegmentId().index, -1);
}

void OutlineModel::addContent(std::uint32_t parent, std::uint32_t level, std::uint32_t segment, int block) const {
  const PlanSnapshot& snapshot = *m_levels[level].snapshot;
  const Homes& homes = m_homes[level];
  const std::vector<FusedNode>& all = snapshot.cover->fusedNodes;
  // The rows are in the order of their first kernels.
  std::vector<std::pair<int, std::uint32_t>> blocks;
  for (std::uint32_t b = 0; b < snapshot.blocks->all().size(); ++b) {
    const CoverBlock& inner = snapshot.blocks->all()[b];
    const bool here =
        inner.parent == block && (block >= 0 || inner.segment < 0 || inner.segment == static_cast<int>(segment));
    if (here) blocks.emplace_back(inner.kernels.empty() ? 0 : inner.kernels.front(), b);
  }
  std::ranges::sort(blocks);
  auto next = blocks.begin();
  const auto addFused = [&](std::uint32_t i) {
    for (; next != blocks.end() && next->first <= static_cast<int>(i); ++next)
      add(parent, Kind::Block, level, next->second);
    if (homes.ofFused[i] == block && (block >= 0 || all[i].segment.index == segment))
      add(parent, Kind::Fused, level, i);
  };
  if (block < 0) {
    for (std::uint32_t i = 0; i < all.size(); ++i) addFused(i);
  } else {
    for (const int kernel : snapshot.blocks->all()[static_cast<std::size_t>(block)].kernels)
      addFused(static_cast<std::uint32_t>(kernel));
  }
  for (; next != blocks.end(); ++next) add(parent, Kind::Block, level, next->second);
  const bool ofSegment = block < 0 && segment < snapshot.cover->segments.size();
  if (block < 0 && !ofSegment) return;
  for (const NodeId node : ofSegment ? snapshot.cover->segments[segment].nodes
                                     : snapshot.blocks->all()[static_cast<std::size_t>(block)].nodes)
    if (snapshot.fusedOf(node) == nullptr && homes.ofNode[node.index] == block)
      add(parent, Kind::Node, level, node.index);
}

void OutlineModel::addBodies(std::uint32_t parent, std::uint32_t level, NodeId holder) const {
  for (const PlanSnapshot::Body& body : m_levels[level].snapshot->bodies) {
    if (body.holder != holder) continue;
    const auto own = std::ranges::find(m_levels, body.snapshot.get(), &PlanSnapshot::Level::snapshot);
    add(parent, Kind::Body, level, static_cast<std::uint32_t>(own - m_levels.begin()));
  }
}

const OutlineModel::Entry& OutlineModel::filled(std::uint32_t id) const {
  if (m_entries[id].filled) return m_entries[id];
  m_entries[id].filled = true;
  const Entry entry = m_entries[id];  // a copy, because adding entries moves them
  switch (entry.kind) {
    case Kind::Root:
      addSegments(id, 0);
      break;
    case Kind::Segment:
      addContent(id, entry.level, entry.number, -1);
      break;
    case Kind::Block:
      addContent(id, entry.level, SegmentId().index, static_cast<int>(entry.number));
      break;
    case Kind::Fused: {
      const FusedNode& fused = planOf(entry).cover->fusedNodes[entry.number];
      if (fused.nodes.size() == 1) addBodies(id, entry.level, fused.nodes.front());
      for (std::size_t i = 0; fused.nodes.size() > 1 && i < fused.nodes.size(); ++i)
        add(id, Kind::Node, entry.level, fused.nodes[i].index);
      break;
    }
    case Kind::Node:
      addBodies(id, entry.level, NodeId(entry.number));
      break;
    case Kind::Body:
      if (m_levels[entry.number].snapshot->cover->segments.size() > 1)
        addSegments(id, entry.number);
      else
        addContent(id, entry.number, 0, -1);
      break;
  }
  return m_entries[id];
}

std::uint32_t OutlineModel::towards(std::uint32_t parent, NodeId node) const {
  const Entry& entry = filled(parent);
  if (entry.children.empty()) return parent;
  const PlanSnapshot& snapshot = planOf(m_entries[entry.children.front()]);
  const FusedNode* fused = snapshot.fusedOf(node);
  const Segment* around = snapshot.segmentOf(node);
  const std::uint32_t segment = (fused != nullptr    ? fused->segment
                                 : around != nullptr ? around->id
                                                     : SegmentId())
                                    .index;
  const Homes& homes = m_homes[m_entries[entry.children.front()].level];
  int home = fused != nullptr ? homes.ofFused[fused->id.index] : homes.ofNode[node.index];
  const auto isHome = [&](std::uint32_t block) {
    const std::vector<CoverBlock>& blocks = snapshot.blocks->all();
    for (int around = home; around >= 0; around = blocks[static_cast<std::size_t>(around)].parent)
      if (around == static_cast<int>(block)) return true;
    return false;
  };
  for (const std::uint32_t id : entry.children) {
    const Entry& child = m_entries[id];
    const bool holds = child.kind == Kind::Segment ? segment == child.number
                       : child.kind == Kind::Block ? isHome(child.number)
                       : child.kind == Kind::Fused ? fused != nullptr && fused->id.index == child.number
                                                   : child.kind == Kind::Node && child.number == node.index;
    if (holds) return id;
  }
  return parent;
}

std::uint32_t OutlineModel::descend(std::uint32_t from, NodeId node, bool wholeKernel) const {
  for (;;) {
    const std::uint32_t next = towards(from, node);
    if (next == from || (wholeKernel && m_entries[next].kind == Kind::Fused)) return next;
    from = next;
  }
}

/// Returns the row of a body, or the root.
std::uint32_t OutlineModel::entryOfLevel(const PlanSnapshot* plan) const {
  if (plan == m_snapshot.get()) return 0;
  for (const PlanSnapshot::Level& around : m_levels) {
    for (const PlanSnapshot::Body& body : around.snapshot->bodies) {
      if (body.snapshot.get() != plan) continue;
      const std::uint32_t holder = descend(entryOfLevel(around.snapshot), body.holder, false);
      for (const std::uint32_t id : filled(holder).children)
        if (m_entries[id].kind == Kind::Body && m_levels[m_entries[id].number].snapshot == plan) return id;
    }
  }
  return 0;
}

QModelIndex OutlineModel::indexFor(std::uint32_t id) const {
  return id == 0 ? QModelIndex() : createIndex(m_entries[id].row, 0, quintptr(id));
}

std::uint32_t OutlineModel::entryOfBlock(std::uint32_t level, int block) const {
  const CoverBlock& of = m_levels[level].snapshot->blocks->all()[static_cast<std::size_t>(block)];
  const auto child = [&](std::uint32_t parent, Kind kind, std::uint32_t number) {
    for (const std::uint32_t id : filled(parent).children)
      if (m_entries[id].kind == kind && m_entries[id].number == number) return id;
    return parent;
  };
  std::uint32_t around = level == 0 ? 0 : entryOfLevel(m_levels[level].snapshot);
  if (of.parent >= 0) {
    around = entryOfBlock(level, of.parent);
  } else if (of.segment >= 0) {
    around = child(around, Kind::Segment, static_cast<std::uint32_t>(of.segment));
  }
  return child(around, Kind::Block, static_cast<std::uint32_t>(block));
}

QModelIndex OutlineModel::indexOfFused(std::uint32_t fused) const {
  if (!m_snapshot || fused >= m_snapshot->cover->fusedNodes.size()) return {};
  const std::uint32_t segment = m_snapshot->cover->fusedNodes[fused].segment.index;
  const auto of = [&](std::uint32_t parent, Kind kind, std::uint32_t number) {
    for (const std::uint32_t id : filled(parent).children)
      if (m_entries[id].kind == kind && m_entries[id].number == number) return id;
    return 0U;
  };
  if (const int block = m_homes[0].ofFused[fused]; block >= 0)
    return indexFor(of(entryOfBlock(0, block), Kind::Fused, fused));
  return indexFor(of(segment == SegmentId().index ? 0 : of(0, Kind::Segment, segment), Kind::Fused, fused));
}

QModelIndex OutlineModel::indexOfBlock(const std::string& handle) const {
  for (std::uint32_t level = 0; level < m_levels.size(); ++level) {
    const PlanSnapshot& of = *m_levels[level].snapshot;
    for (std::size_t b = 0; b < of.blocks->all().size(); ++b)
      if (m_levels[level].path.exactly(of.blocks->handleOf(*of.cover, of.blocks->all()[b])) == handle)
        return indexFor(entryOfBlock(level, static_cast<int>(b)));
  }
  return {};
}

QModelIndex OutlineModel::indexOfSegment(std::uint32_t segment) const {
  return m_snapshot && segment < m_snapshot->cover->segments.size() && !filled(0).children.empty()
             ? indexFor(m_entries[0].children[segment])
             : QModelIndex();
}

QModelIndex OutlineModel::indexOf(NodeId node) const {
  if (!m_snapshot || m_snapshot->segmentOf(node) == nullptr) return {};
  return indexFor(descend(0, node, false));
}

QModelIndex OutlineModel::indexOfInside(const std::string& name) const {
  const auto inside = m_snapshot ? m_snapshot->inside(name) : std::nullopt;
  if (!inside) return {};
  return indexFor(descend(entryOfLevel(inside->body), inside->nodes.front(), inside->nodes.size() > 1));
}

const OutlineModel::Entry& OutlineModel::entryAt(const QModelIndex& index) const {
  return filled(index.isValid() ? static_cast<std::uint32_t>(index.internalId()) : 0);
}

QModelIndex OutlineModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, quintptr(entryAt(parent).children[static_cast<std::size_t>(row)]));
}

QModelIndex OutlineModel::parent(const QModelIndex& index) const {
  return index.isValid() ? indexFor(m_entries[index.internalId()].parent) : QModelIndex();
}

int OutlineModel::rowCount(const QModelIndex& parent) const {
  if (!m_snapshot || parent.column() > 0) return 0;
  return static_cast<int>(entryAt(parent).children.size());
}

int OutlineModel::columnCount(const QModelIndex&) const {
  return kColumns;
}

QString OutlineModel::nameIn(const Entry& entry, const std::string& name) const {
  return qs(m_levels[entry.level].path.of(name));
}

/// The key distinguishes the bodies of one holder, which are selected by the holder's name, and segments with the same
/// name in different bodies.
QVariant OutlineModel::keyOf(const QModelIndex& index) const {
  const Entry& entry = m_entries[index.internalId()];
  if (entry.kind == Kind::Body) return qs(m_levels[entry.number].path.text());
  if (entry.kind == Kind::Segment)
    return qs(m_levels[entry.level].path.exactly(planOf(entry).cover->segments[entry.number].name));
  return data(index, kNameRole);
}

QVariant OutlineModel::data(const QModelIndex& index, int role) const {
  if (!m_snapshot || !checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Entry& entry = m_entries[index.internalId()];
  if (role == kKeyRole) return keyOf(index);
  switch (entry.kind) {
    case Kind::Root:
      break;
    case Kind::Segment:
      return segmentData(entry, index.column(), role);
    case Kind::Block:
      return blockData(entry, index.column(), role);
    case Kind::Fused:
      return fusedData(entry, index.column(), role);
    case Kind::Node:
      return nodeData(entry, NodeId(entry.number), index.column(), role);
    case Kind::Body:
      return bodyData(entry, index.column(), role);
  }
  return {};
}

QVariant OutlineModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kName ? QStringLiteral("Name") : QStringLiteral("Type");
}

}  // namespace fusescope
