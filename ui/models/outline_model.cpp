#include "ui/models/outline_model.h"

#include <QFont>
#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {

void OutlineModel::setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot) {
  beginResetModel();
  m_snapshot = std::move(snapshot);
  m_fusedOfSegment.clear();
  m_placeOfFused.clear();
  if (m_snapshot) {
    const Plan& plan = *m_snapshot->plan;
    m_fusedOfSegment.resize(plan.segments.size());
    m_placeOfFused.resize(plan.fusedNodes.size());
    for (std::uint32_t i = 0; i < plan.fusedNodes.size(); ++i) {
      const std::uint32_t segment = plan.fusedNodes[i].segment.index;
      m_placeOfFused[i] = {segment, static_cast<std::uint32_t>(m_fusedOfSegment[segment].size())};
      m_fusedOfSegment[segment].push_back(i);
    }
  }
  endResetModel();
}

QModelIndex OutlineModel::indexOfFused(std::uint32_t fused) const {
  if (!m_snapshot || fused >= m_placeOfFused.size()) return {};
  const auto [segment, row] = m_placeOfFused[fused];
  return createIndex(static_cast<int>(row), 0, idOf(kFused, segment));
}

QModelIndex OutlineModel::indexOf(NodeId node) const {
  if (!m_snapshot || node.index >= m_snapshot->nodes.size()) return {};
  const std::uint32_t fused = m_snapshot->facts(node).fused;
  if (fused == UINT32_MAX) return {};
  const auto& nodes = m_snapshot->plan->fusedNodes[fused].nodes;
  if (nodes.size() == 1) return indexOfFused(fused);
  const auto row = std::find(nodes.begin(), nodes.end(), node) - nodes.begin();
  return createIndex(static_cast<int>(row), 0, idOf(kNode, fused));
}

std::uint32_t OutlineModel::fusedOf(const QModelIndex& index) const {
  return m_fusedOfSegment[parentEntryOf(index)][static_cast<std::size_t>(index.row())];
}

QModelIndex OutlineModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  if (!parent.isValid()) return createIndex(row, column, idOf(kSegment, 0));
  if (levelOf(parent) == kSegment)
    return createIndex(row, column, idOf(kFused, static_cast<std::uint32_t>(parent.row())));
  return createIndex(row, column, idOf(kNode, fusedOf(parent)));
}

QModelIndex OutlineModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || levelOf(index) == kSegment) return {};
  const std::uint32_t entry = parentEntryOf(index);
  if (levelOf(index) == kFused) return createIndex(static_cast<int>(entry), 0, idOf(kSegment, 0));
  return indexOfFused(entry);
}

int OutlineModel::rowCount(const QModelIndex& parent) const {
  if (!m_snapshot || parent.column() > 0) return 0;
  if (!parent.isValid()) return static_cast<int>(m_fusedOfSegment.size());
  switch (levelOf(parent)) {
    case kSegment:
      return static_cast<int>(m_fusedOfSegment[static_cast<std::size_t>(parent.row())].size());
    case kFused: {
      const std::size_t count = m_snapshot->plan->fusedNodes[fusedOf(parent)].nodes.size();
      return count > 1 ? static_cast<int>(count) : 0;
    }
    case kNode:
      return 0;
  }
  return 0;
}

int OutlineModel::columnCount(const QModelIndex&) const {
  return kColumns;
}

QVariant OutlineModel::data(const QModelIndex& index, int role) const {
  if (!m_snapshot || !checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  switch (levelOf(index)) {
    case kSegment:
      return segmentData(static_cast<std::uint32_t>(index.row()), index.column(), role);
    case kFused:
      return fusedData(fusedOf(index), index.column(), role);
    case kNode: {
      const FusedNode& fused = m_snapshot->plan->fusedNodes[parentEntryOf(index)];
      return nodeData(fused.nodes[static_cast<std::size_t>(index.row())], index.column(), role);
    }
  }
  return {};
}

QVariant OutlineModel::segmentData(std::uint32_t index, int column, int role) const {
  const Segment& segment = m_snapshot->plan->segments[index];
  const bool fallback = segment.kind == SegmentKind::Fallback;
  if (role == kNameRole) return qs(segment.name);
  if (role == kToneRole) return static_cast<int>(fallback ? Tone::Warning : Tone::Plain);
  const bool predicted = m_snapshot->plan->target.predictedFusions && !fallback;
  if (role == Qt::DisplayRole && column == kType && predicted) return QStringLiteral("predicted");
  if (role == Qt::DisplayRole)
    return column == kName ? qs(segment.name) : (fallback ? QStringLiteral("fallback") : qs(segment.backend));
  if (role == Qt::ToolTipRole) {
    return QStringLiteral("%1 segment on %2: %3 in %4%5")
        .arg(qs(name(segment.kind)), qs(segment.backend),
             plural(static_cast<std::int64_t>(segment.nodes.size()), "node"),
             plural(static_cast<std::int64_t>(m_fusedOfSegment[index].size()), "fused node"),
             predicted ? QStringLiteral("\nits fusions are predicted: the target fuses by rules of its own")
                       : QString());
  }
  return {};
}

QString OutlineModel::typesText(const Plan& plan, const FusedNode& fused) {
  QStringList names;
  for (const DataType type : calculatedTypes(plan, fused)) names << qs(type);
  return names.join(QStringLiteral("+"));
}

QVariant OutlineModel::fusedData(std::uint32_t index, int column, int role) const {
  const FusedNode& fused = m_snapshot->plan->fusedNodes[index];
  if (fused.nodes.size() == 1) return nodeData(fused.nodes.front(), column, role);
  if (role == kNameRole) return qs(handleOf(fused));
  const bool predicted = isPrediction(*m_snapshot->plan, fused);
  if (role == Qt::FontRole && predicted && column == kName) {
    QFont font;
    font.setItalic(true);
    return font;
  }
  if (role == Qt::DisplayRole) {
    if (column == kType) return typesText(*m_snapshot->plan, fused);
    const Graph& graph = m_snapshot->graph();
    const std::string& root = graph.node(fused.root.valid() ? fused.root : fused.nodes.front()).name;
    return QStringLiteral("%1  +%2").arg(qs(root)).arg(fused.nodes.size() - 1);
  }
  if (role == Qt::ToolTipRole) {
    return QStringLiteral("%1\nkind %2, computes in %3%4")
        .arg(qs(fused.name), qs(fused.kind), typesText(*m_snapshot->plan, fused),
             predicted ? QStringLiteral("\npredicted: the target fuses by rules of its own") : QString());
  }
  return {};
}

QVariant OutlineModel::nodeData(NodeId id, int column, int role) const {
  const Node& node = m_snapshot->graph().node(id);
  const PrecisionGrant* grant = m_snapshot->grantOf(id);
  if (role == kNameRole) return qs(node.name);
  if (role == Qt::DisplayRole) {
    if (column == kName) return qs(node.name);
    return grant && grant->granted != DataType::Undefined ? qs(grant->granted) : QString();
  }
  if (role == Qt::ToolTipRole) return QStringLiteral("%1 (%2)").arg(qs(node.name), qs(node.op));
  return {};
}

QVariant OutlineModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kName ? QStringLiteral("Name") : QStringLiteral("Type");
}

}  // namespace fusescope
