#include "ui/models/outline_model.h"

#include <QFont>
#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// "f16", "f16+f32"
QString typesText(const Cover& cover, const FusedNode& fused) {
  QStringList names;
  for (const DataType type : calculatedTypes(cover, fused)) names << qs(type);
  if (names.isEmpty() && asReadBack(cover) != nullptr) return undisclosed();
  return names.join(QStringLiteral("+"));
}

/// Its nodes are counted beside the type, where they take no room from the end of the name.
QString typeCell(const Cover& cover, const FusedNode& fused) {
  return QStringLiteral("%1 · %2").arg(typesText(cover, fused)).arg(fused.nodes.size());
}

/// What became of a node that has no kernel; empty of one that has.
QString fateOf(const PlanSnapshot& snapshot, NodeId node) {
  const ReadBackPlan* made = snapshot.made();
  return made == nullptr ? QString() : fateWord(made->fateOf(node));
}

/// Names of what a Loop or Scan hands its body from one iteration to the next.
QStringList carriedNames(const Graph& body, const Node& holder) {
  if (holder.is("If")) return {};
  const std::size_t first = holder.is("Loop") ? 2 : 0;
  const auto scanned = static_cast<std::size_t>(holder.intAttribute("num_scan_inputs", 0));
  const std::size_t end = holder.inputs.size() - std::min(scanned, holder.inputs.size());
  QStringList names;
  for (std::size_t i = first; i < end && i < body.inputs().size(); ++i) names << qs(body.value(body.inputs()[i]).name);
  return names;
}

}  // namespace

void OutlineModel::setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot) {
  beginResetModel();
  m_snapshot = std::move(snapshot);
  m_levels = m_snapshot ? m_snapshot->levels() : std::vector<PlanSnapshot::Level>();
  m_entries.assign(1, Entry());
  m_entries.front().filled = !m_snapshot;
  endResetModel();
}

QString OutlineModel::longestType() const {
  QString longest;
  for (const PlanSnapshot::Level& level : m_levels) {
    const Cover& cover = *level.snapshot->cover;
    for (const FusedNode& fused : cover.fusedNodes) {
      if (fused.nodes.size() < 2) continue;
      const QString text = typeCell(cover, fused);
      if (text.size() > longest.size()) longest = text;
    }
  }
  return longest;
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
  addFused(parent, level, SegmentId().index);  // of which it is not told whose they are
}

void OutlineModel::addFused(std::uint32_t parent, std::uint32_t level, std::uint32_t segment) const {
  const std::vector<FusedNode>& all = m_levels[level].snapshot->cover->fusedNodes;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].segment.index == segment) add(parent, Kind::Fused, level, i);
}

void OutlineModel::addWithoutKernel(std::uint32_t parent, std::uint32_t level, std::uint32_t segment) const {
  const PlanSnapshot& snapshot = *m_levels[level].snapshot;
  for (const NodeId node : snapshot.cover->segments[segment].nodes)
    if (snapshot.fusedOf(node) == nullptr) add(parent, Kind::Node, level, node.index);
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
  const Entry entry = m_entries[id];  // adding moves them
  switch (entry.kind) {
    case Kind::Root:
      addSegments(id, 0);
      break;
    case Kind::Segment:
      addFused(id, entry.level, entry.number);
      addWithoutKernel(id, entry.level, entry.number);
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
        addFused(id, entry.number, 0);
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
  for (const std::uint32_t id : entry.children) {
    const Entry& child = m_entries[id];
    const bool holds = child.kind == Kind::Segment ? segment == child.number
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

/// The row of a body, or the root.
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

QModelIndex OutlineModel::indexOfFused(std::uint32_t fused) const {
  if (!m_snapshot || fused >= m_snapshot->cover->fusedNodes.size()) return {};
  const std::uint32_t segment = m_snapshot->cover->fusedNodes[fused].segment.index;
  const auto of = [&](std::uint32_t parent, Kind kind, std::uint32_t number) {
    for (const std::uint32_t id : filled(parent).children)
      if (m_entries[id].kind == kind && m_entries[id].number == number) return id;
    return 0U;
  };
  return indexFor(of(segment == SegmentId().index ? 0 : of(0, Kind::Segment, segment), Kind::Fused, fused));
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

/// Bodies of one holder are selected by its name, and each may have a segment of one name.
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
    case Kind::Fused:
      return fusedData(entry, index.column(), role);
    case Kind::Node:
      return nodeData(entry, NodeId(entry.number), index.column(), role);
    case Kind::Body:
      return bodyData(entry, index.column(), role);
  }
  return {};
}

QVariant OutlineModel::segmentData(const Entry& entry, int column, int role) const {
  const Cover& cover = *planOf(entry).cover;
  const Segment& segment = cover.segments[entry.number];
  const bool fallback = segment.kind == SegmentKind::Fallback;
  if (role == kNameRole) return nameIn(entry, segment.name);
  if (role == kToneRole) return static_cast<int>(fallback ? Tone::Warning : Tone::Plain);
  const bool predicted = cover.source == CoverSource::Planned && cover.target.predictedFusions && !fallback;
  if (role == Qt::DisplayRole && column == kType && predicted) return QStringLiteral("predicted");
  if (role == Qt::DisplayRole)
    return column == kName ? qs(segment.name) : (fallback ? QStringLiteral("fallback") : qs(segment.backend));
  if (role == Qt::ToolTipRole) {
    const auto kernels = std::ranges::count(cover.fusedNodes, segment.id, &FusedNode::segment);
    return QStringLiteral("%1 segment on %2: %3 in %4%5")
        .arg(qs(name(segment.kind)), qs(segment.backend),
             plural(static_cast<std::int64_t>(segment.nodes.size()), "node"), plural(kernels, "fused node"),
             predicted ? QStringLiteral("\nits fusions are predicted: the target fuses by rules of its own")
                       : QString());
  }
  return {};
}

QVariant OutlineModel::fusedData(const Entry& entry, int column, int role) const {
  const PlanSnapshot& snapshot = planOf(entry);
  const Cover& cover = *snapshot.cover;
  const FusedNode& fused = cover.fusedNodes[entry.number];
  if (fused.nodes.size() == 1 && snapshot.isToldByNodes(fused))
    return nodeData(entry, fused.nodes.front(), column, role);
  const NodeId main = PlanSnapshot::mainNodeOf(fused);
  if (role == kNameRole) return qs(m_levels[entry.level].path.exactly(handleOf(fused)));
  if (role == kTwinRole && column == kName) return main.valid() ? qs(snapshot.twinName(main)) : QString();
  if (role == Qt::FontRole && column == kName && isPrediction(cover, fused)) {
    QFont font;
    font.setItalic(true);
    return font;
  }
  if (role == Qt::DisplayRole) {
    if (column == kType) return typeCell(cover, fused);
    return snapshot.isToldByNodes(fused) ? qs(cover.graph().node(main).name) : qs(fused.name);
  }
  if (role == Qt::ToolTipRole) return fusedTip(entry, fused);
  return {};
}

QString OutlineModel::fusedTip(const Entry& entry, const FusedNode& fused) const {
  const Cover& cover = *planOf(entry).cover;
  const ReadBackPlan* made = planOf(entry).made();
  QString tip = QStringLiteral("%1\nkind %2, computes in %3")
                    .arg(nameIn(entry, fused.name), qs(fused.kind), typesText(cover, fused));
  if (isPrediction(cover, fused)) tip += QStringLiteral("\npredicted: the target fuses by rules of its own");
  if (fused.nodes.empty()) tip += QStringLiteral("\nruns none of the network's nodes: it moves or prepares something");
  if (made != nullptr && made->kernels[fused.id.index].once)
    tip += QStringLiteral("\nruns once, when the network is prepared");
  return tip;
}

QVariant OutlineModel::nodeData(const Entry& entry, NodeId id, int column, int role) const {
  const PlanSnapshot& snapshot = planOf(entry);
  if (role == kTwinRole && column == kName) return qs(snapshot.twinName(id));
  const Node& node = snapshot.graph().node(id);
  const PrecisionGrant* grant = snapshot.grantOf(id);
  if (role == kNameRole) return nameIn(entry, node.name);
  if (role == Qt::DisplayRole) {
    if (column == kName) return qs(node.name);
    if (const QString fate = fateOf(snapshot, id); !fate.isEmpty()) return fate;
    return grant && grant->granted != DataType::Undefined ? qs(grant->granted) : QString();
  }
  if (role == kToneRole && !fateOf(snapshot, id).isEmpty()) return static_cast<int>(Tone::Dim);
  if (role == Qt::ToolTipRole) return QStringLiteral("%1 (%2)").arg(nameIn(entry, node.name), qs(node.op));
  return {};
}

/// Selecting a body selects its holder.
QVariant OutlineModel::bodyData(const Entry& entry, int column, int role) const {
  const PlanSnapshot::Level& level = m_levels[entry.number];
  const PlanSnapshot& around = planOf(entry);
  const auto body = std::ranges::find_if(
      around.bodies, [&](const PlanSnapshot::Body& other) { return other.snapshot.get() == level.snapshot; });
  const Node& holder = around.graph().node(body->holder);
  const QStringList carried = carriedNames(level.snapshot->graph(), holder);
  const QString title = bodyTitle(level.path.steps().back().attribute);
  if (role == kNameRole) return nameIn(entry, holder.name);
  if (role == kToneRole) return static_cast<int>(Tone::Dim);
  if (role == Qt::DisplayRole && column == kName)
    return carried.isEmpty() ? title : QStringLiteral("%1 · carries %2").arg(title, carried.join(QStringLiteral(", ")));
  if (role == Qt::ToolTipRole) {
    const Cover& cover = *level.snapshot->cover;
    return QStringLiteral("%1 of %2: %3 in %4%5")
        .arg(title, nameIn(entry, holder.name), plural(static_cast<std::int64_t>(cover.graph().nodeCount()), "node"),
             plural(static_cast<std::int64_t>(cover.fusedNodes.size()), "fused node"),
             carried.isEmpty() ? QString()
                               : QStringLiteral("\ncarries from one iteration to the next: %1")
                                     .arg(carried.join(QStringLiteral(", "))));
  }
  return {};
}

QVariant OutlineModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kName ? QStringLiteral("Name") : QStringLiteral("Type");
}

}  // namespace fusescope
