#include "ui/models/outline_model.h"

#include <QFont>
#include <algorithm>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"

namespace fusescope {

namespace {

/// Returns "f16" or "f16+f32".
QString typesText(const Cover& cover, const FusedNode& fused) {
  QStringList names;
  for (const DataType type : calculatedTypes(cover, fused)) names << qs(type);
  if (names.isEmpty() && asReadBack(cover) != nullptr) return undisclosed();
  return names.join(QStringLiteral("+"));
}

/// Returns the type in which a fused node calculates, or "f16+" if there are several. The tool tip lists all of them,
/// because a column that is wide enough for all would leave no room for names. The number of nodes is beside the type,
/// so that it does not shorten the name.
QString typeCell(const Cover& cover, const FusedNode& fused) {
  const std::vector<DataType> types = calculatedTypes(cover, fused);
  const QString words = typesText(cover, fused);
  const QString text = types.size() > 1         ? qs(types.front()) + QLatin1Char('+')
                       : words == undisclosed() ? QStringLiteral("?")
                                                : words;
  return QStringLiteral("%1 · %2").arg(text).arg(fused.nodes.size());
}

QString blockKernelsText(const CoverBlock& block) {
  return plural(static_cast<std::int64_t>(block.kernels.size()), "kernel");
}

/// Returns the number of nodes, as for a kernel.
QString blockCell(const CoverBlock& block) {
  return QStringLiteral("· %1").arg(block.nodes.size());
}

/// Returns the fate of a node without a kernel; empty for other nodes.
QString fateOf(const PlanSnapshot& snapshot, NodeId node) {
  const ReadBackPlan* made = snapshot.made();
  return made == nullptr ? QString() : fateWord(made->fateOf(node));
}

/// Returns the names of the values that a Loop or Scan carries from one iteration of its body to the next.
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

QString OutlineModel::longestType() const {
  QString longest;
  for (const PlanSnapshot::Level& level : m_levels) {
    const Cover& cover = *level.snapshot->cover;
    for (const CoverBlock& block : level.snapshot->blocks->all())
      if (const QString text = blockCell(block); text.size() > longest.size()) longest = text;
    for (const FusedNode& fused : cover.fusedNodes) {
      if (fused.nodes.size() < 2) continue;
      const QString text = typeCell(cover, fused);
      if (text.size() > longest.size()) longest = text;
    }
  }
  return longest;
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
    return column == kName ? qs(segment.name) : (fallback ? QStringLiteral("fallback") : runsOn(cover, segment));
  if (role == Qt::ToolTipRole) {
    const auto kernels = std::ranges::count(cover.fusedNodes, segment.id, &FusedNode::segment);
    return QStringLiteral("%1 segment on %2: %3 in %4%5")
        .arg(qs(name(segment.kind)), runsOn(cover, segment),
             plural(static_cast<std::int64_t>(segment.nodes.size()), "node"), plural(kernels, "fused node"),
             predicted ? QStringLiteral("\nits fusions are predicted: the target's compiler fuses by its own rules")
                       : QString());
  }
  return {};
}

QVariant OutlineModel::blockData(const Entry& entry, int column, int role) const {
  const PlanSnapshot& snapshot = planOf(entry);
  const CoverBlock& block = snapshot.blocks->all()[entry.number];
  const Module& module = snapshot.blocks->moduleOf(block);
  if (role == kNameRole)
    return qs(m_levels[entry.level].path.exactly(snapshot.blocks->handleOf(*snapshot.cover, block)));
  if (role == Qt::DisplayRole && column == kType) return blockCell(block);
  if (role == Qt::DisplayRole)
    return block.copies > 0 ? QStringLiteral("%1  ×%2").arg(qs(module.name)).arg(block.copies) : qs(module.name);
  if (role == Qt::ToolTipRole)
    return tipText(QStringLiteral("%1\n%2: %3 in %4")
                       .arg(nameIn(entry, module.path), qs(module.title),
                            plural(static_cast<std::int64_t>(block.nodes.size()), "node"), blockKernelsText(block)));
  return {};
}

QVariant OutlineModel::fusedData(const Entry& entry, int column, int role) const {
  const PlanSnapshot& snapshot = planOf(entry);
  const Cover& cover = *snapshot.cover;
  const FusedNode& fused = cover.fusedNodes[entry.number];
  if (fused.nodes.size() == 1 && snapshot.isIdentifiedByNodes(fused))
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
    return snapshot.isIdentifiedByNodes(fused) ? qs(cover.graph().node(main).name) : qs(fused.name);
  }
  if (role == Qt::ToolTipRole) return tipText(fusedTip(entry, fused));
  return {};
}

QString OutlineModel::fusedTip(const Entry& entry, const FusedNode& fused) const {
  const Cover& cover = *planOf(entry).cover;
  const ReadBackPlan* made = planOf(entry).made();
  QString tip = QStringLiteral("%1\nkind %2, computes in %3")
                    .arg(nameIn(entry, fused.name), qs(fused.kind), typesText(cover, fused));
  if (isPrediction(cover, fused)) tip += QStringLiteral("\npredicted: the target's compiler fuses by its own rules");
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
  if (role == Qt::ToolTipRole) return tipText(QStringLiteral("%1 (%2)").arg(nameIn(entry, node.name), qs(node.op)));
  return {};
}

/// Selecting the row of a body selects its holder.
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
    return tipText(QStringLiteral("%1 of %2: %3 in %4%5")
                       .arg(title, nameIn(entry, holder.name),
                            plural(static_cast<std::int64_t>(cover.graph().nodeCount()), "node"),
                            plural(static_cast<std::int64_t>(cover.fusedNodes.size()), "fused node"),
                            carried.isEmpty() ? QString()
                                              : QStringLiteral("\ncarries from one iteration to the next: %1")
                                                    .arg(carried.join(QStringLiteral(", ")))));
  }
  return {};
}

}  // namespace fusescope
