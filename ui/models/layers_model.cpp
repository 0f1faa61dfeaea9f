#include "ui/models/layers_model.h"

#include <algorithm>
#include <limits>

#include "ir/graph.h"
#include "planning/directives/directive_form.h"
#include "planning/fused_node_facts.h"
#include "ui/document/directive_edits.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Returns an empty text if the kernel calculates in one type.
QString kernelTypesText(const Cover& cover, const FusedNode& fused) {
  QStringList names;
  for (const DataType type : calculatedTypes(cover, fused)) names << qs(type);
  return names.size() > 1 ? names.join(QStringLiteral(", ")) : QString();
}

/// `fused` is null if the node has no kernel.
QString storedText(const Cover& cover, const Node& node, const FusedNode* fused) {
  const ValueId result = node.outputs.empty() ? ValueId() : node.outputs.front();
  if (!result.valid()) return {};
  static const std::vector<InnerEdge> kNone;
  const std::vector<InnerEdge>& edges = fused == nullptr ? kNone : fused->innerEdges;
  const auto edge = std::ranges::find(edges, result, &InnerEdge::value);
  const bool inner = edge != edges.end() && !edge->real;
  if (asReadBack(cover) != nullptr && !inner) return typeWord(cover.storedType(result));
  if (!inner) return qs(cover.storedType(result));
  if (edge->type == DataType::Undefined) return QStringLiteral("inner");
  return qs(edge->type) +
         (keptInWiderType(*fused, result) != nullptr ? QStringLiteral(" wider") : QStringLiteral(" inner"));
}

/// Returns the names of all kernels that run the node, as their compiler calls them, or the node's fate if there are
/// none.
QString kernelsText(const PlanSnapshot& snapshot, NodeId node) {
  QStringList names;
  for (const FusedNode* fused : snapshot.kernelsOf(node)) names << qs(fused->name);
  return names.isEmpty() ? fateWord(snapshot.made()->fateOf(node)) : names.join(QStringLiteral(", "));
}

/// Returns max|Δ| over rms, which is infinite if an element is. Returns nothing if it is unknown or has no meaning.
std::optional<double> sizeOf(const std::optional<TensorError>& error) {
  if (!error || !error->isMeaningful()) return std::nullopt;
  return error->nonFinite > 0 ? std::numeric_limits<double>::infinity() : error->maxOverRms;
}

}  // namespace

QString PinChoice::text() const {
  if (type == DataType::Undefined) return QStringLiteral("no pin");
  return strictness == Strictness::Obey ? qs(type) + QStringLiteral(" (obey)") : qs(type);
}

void LayersModel::setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot) {
  const std::vector<std::uint32_t> before = m_rows;
  const std::size_t count = m_views.size();
  const bool sameModel = m_snapshot && snapshot && m_snapshot->plan->model == snapshot->plan->model;
  if (!sameModel) beginResetModel();
  m_snapshot = std::move(snapshot);
  readPlan();
  readTimes();
  readErrors();
  if (!sameModel) {
    arrange();
    endResetModel();
    return;
  }
  // If the rows are the same and only their contents have changed, the selection, the scroll position and an open
  // editor are kept.
  arrange();
  if (m_rows == before && m_views.size() == count) {
    if (!m_rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
    return;
  }
  std::vector<std::uint32_t> after = std::exchange(m_rows, before);
  beginResetModel();
  m_rows = std::move(after);
  endResetModel();
}

void LayersModel::setTimes(ShownTimes times, const QString& unknown) {
  m_timesUnknown = unknown;
  if (times.same(m_times)) return;
  m_times = std::move(times);
  readTimes();
  if (!m_rows.empty()) emit dataChanged(index(0, kTime), index(rowCount() - 1, kTime));
}

void LayersModel::setErrors(ShownErrors errors) {
  if (errors.isSameObject(m_errors) && errors.made == m_errors.made) return;
  m_errors = std::move(errors);
  readErrors();
  if (!m_rows.empty()) emit dataChanged(index(0, kLocal), index(rowCount() - 1, kCarried));
}

void LayersModel::setFailing(const QString& node) {
  if (node == m_failing) return;
  m_failing = node;
  if (!m_rows.empty()) emit dataChanged(index(0, kNode), index(rowCount() - 1, kNode));
}

void LayersModel::setFilter(const LayerFilter& filter) {
  beginResetModel();
  m_filter = filter;
  arrange();
  endResetModel();
}

void LayersModel::readPlan() {
  m_views.clear();
  m_shared.clear();
  m_sharedOf.clear();
  m_levels = m_snapshot ? m_snapshot->levels() : std::vector<PlanSnapshot::Level>();
  for (std::uint32_t level = 0; level < m_levels.size(); ++level) readLevel(level);
}

void LayersModel::readLevel(std::uint32_t level) {
  const PlanSnapshot& snapshot = *m_levels[level].snapshot;
  const Graph& graph = snapshot.graph();
  std::vector<std::size_t> viewOf(graph.nodeIdLimit());
  m_views.reserve(m_views.size() + graph.nodeCount());
  for (const NodeId id : graph.order()) {
    viewOf[id.index] = m_views.size();
    m_views.push_back(readNode(level, id));
  }
  for (const Directive& directive : snapshot.plan->options.directives) {
    if (formOf(directive).asks != RequestedType::Calculated) continue;
    const auto node = graph.findNode(directive.pattern);
    if (!node) continue;
    Row& row = m_views[viewOf[node->index]];
    row.view.pinned = true;
    row.pin = PinChoice{directive.type, directive.strictness}.text();
  }
  if (snapshot.made() != nullptr) {
    for (const FusedNode& fused : snapshot.cover->fusedNodes) {
      const NodeId main = PlanSnapshot::mainNodeOf(fused);
      if (!main.valid() || snapshot.fusedOf(main) != &fused) m_views.push_back(readKernel(level, fused));
    }
    return;
  }
  // A fused node has the name of its main node, which is in that node's row.
  for (const NodeId id : graph.order()) {
    Row& row = m_views[viewOf[id.index]];
    if (row.fused != nullptr) row.view.fused = m_views[viewOf[PlanSnapshot::mainNodeOf(*row.fused).index]].view.node;
  }
}

const QString& LayersModel::shared(const std::string& text) {
  const auto [entry, isNew] = m_sharedOf.try_emplace(text);
  if (isNew) entry->second = qs(text);
  return entry->second;
}

QString LayersModel::fusedNameOf(const Row& row) const {
  if (!row.node.valid() || m_levels[row.level].snapshot->made() != nullptr) return row.view.fused;
  return row.fused == nullptr ? QString() : qs(m_levels[row.level].path.of(row.fused->name));
}

LayersModel::Row LayersModel::readNode(std::uint32_t level, NodeId id) {
  const PlanSnapshot& snapshot = *m_levels[level].snapshot;
  const BodyPath& path = m_levels[level].path;
  const Cover& cover = *snapshot.cover;
  const Node& node = cover.graph().node(id);
  const auto& facts = snapshot.facts(id);
  Row row;
  row.node = id;
  row.level = level;
  row.fused = snapshot.fusedOf(id);
  row.view.node = qs(path.of(node.name));
  row.view.op = shared(node.op);
  row.view.inside = shared(path.isNetwork() ? std::string() : path.holder()->text());
  row.root = facts.root;
  if (facts.flops) row.view.flops = static_cast<double>(*facts.flops);
  if (facts.bytes) row.view.bytes = static_cast<double>(*facts.bytes);
  if (const Segment* segment = snapshot.segmentOf(id)) {
    row.view.segment = shared(path.of(segment->name));
    row.view.fallback = segment->kind == SegmentKind::Fallback;
  }
  if (const FusedNode* fused = row.fused) {
    if (row.root && fused->bytes) row.kernelBytes = static_cast<double>(*fused->bytes);
    row.predicted = fused->nodes.size() > 1 && isPrediction(cover, *fused);
    row.kernelTypes = shared(kernelTypesText(cover, *fused));
    row.view.isFused = fused->nodes.size() > 1;
  }
  if (row.fused != nullptr || snapshot.made() != nullptr) row.stored = shared(storedText(cover, node, row.fused));
  if (snapshot.made() != nullptr) row.view.fused = shared(kernelsText(snapshot, id));
  readTypes(snapshot, row);
  return row;
}

void LayersModel::readTypes(const PlanSnapshot& snapshot, Row& row) {
  const PrecisionGrant* grant = snapshot.grantOf(row.node);
  if (grant == nullptr) return;
  const bool calculates = snapshot.requestedPlan().calculates[row.node.index] != DataType::Undefined;
  if (grant->granted != DataType::Undefined)
    row.view.dtype = shared(qs(grant->granted));
  else if (snapshot.made() != nullptr && row.fused != nullptr && calculates)
    row.view.dtype = shared(undisclosed());
  if (grant->asked == DataType::Undefined || !grant->by.isDirective()) return;
  row.pin = qs(grant->asked);
  row.view.pinned = true;
}

/// Returns the row of a kernel whose time is at none of the network's nodes.
LayersModel::Row LayersModel::readKernel(std::uint32_t level, const FusedNode& fused) {
  const PlanSnapshot& snapshot = *m_levels[level].snapshot;
  Row row;
  row.level = level;
  row.fused = &fused;
  row.root = true;
  row.view.node = qs(fused.name);
  row.view.op = shared(fused.kind);
  row.view.fused = row.view.node;
  row.view.isFused = fused.nodes.size() > 1;
  row.view.dtype = shared(typeWord(fused.compute));
  row.stored = shared(fused.outputs.empty() ? undisclosed() : typeWord(fused.outputs.front().type));
  if (fused.bytes) row.kernelBytes = static_cast<double>(*fused.bytes);
  if (const Segment* segment = snapshot.segmentOf(fused)) {
    row.view.segment = shared(segment->name);
    row.view.fallback = segment->kind == SegmentKind::Fallback;
  }
  return row;
}

void LayersModel::readTimes() {
  for (Row& row : m_views) {
    row.view.ms.reset();
    row.time = {};
    if (!row.root || row.fused == nullptr) continue;
    const PlanSnapshot::Level& level = m_levels[row.level];
    const std::string handle = m_times.empty() ? std::string() : level.path.exactly(handleOf(*row.fused));
    row.time = shownTime(m_times, handle, timeWithoutRun(*level.snapshot->cover, *row.fused));
    if (row.time.known()) row.view.ms = row.time.ms;
  }
}

void LayersModel::readErrors() {
  for (Row& row : m_views) {
    const FusedNode* fused = row.root && !m_errors.of.empty() ? row.fused : nullptr;
    row.error = fused == nullptr ? ShownError() : m_errors.find(m_levels[row.level].path.exactly(handleOf(*fused)));
    const auto& local = row.error.errors.local;
    row.view.error = sizeOf(local);
  }
}

bool LayersModel::less(const Row& first, const Row& second) const {
  const LayerView &a = first.view, &b = second.view;
  switch (m_sortColumn) {
    case kNode:
      return QString::compare(a.node, b.node, Qt::CaseInsensitive) < 0;
    case kOp:
      return a.op < b.op;
    case kFused:
      return a.fused < b.fused;
    case kSegment:
      return a.segment < b.segment;
    case kCompute:
      return a.dtype < b.dtype;
    case kStored:
      return first.stored < second.stored;
    case kPin:
      return first.pin < second.pin;
    case kFlops:
      return a.flops < b.flops;
    case kBytes:
      return a.bytes < b.bytes;
    case kTime:
      return a.ms < b.ms;
    case kLocal:
      return a.error < b.error;
    case kCarried:
      return sizeOf(first.error.errors.carried) < sizeOf(second.error.errors.carried);
    default:
      return false;
  }
}

void LayersModel::arrange() {
  m_rows.clear();
  for (std::uint32_t i = 0; i < m_views.size(); ++i)
    if (m_filter.empty() || m_filter.matches(m_views[i].view)) m_rows.push_back(i);
  if (m_sortColumn < 0) return;
  const bool ascending = m_sortOrder == Qt::AscendingOrder;
  std::stable_sort(m_rows.begin(), m_rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ascending ? less(m_views[a], m_views[b]) : less(m_views[b], m_views[a]);
  });
}

void LayersModel::sort(int column, Qt::SortOrder order) {
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const std::vector<std::uint32_t> before = m_rows;
  m_sortColumn = column;
  m_sortOrder = order;
  arrange();
  std::vector<int> rowOfView(m_views.size(), -1);
  for (std::size_t i = 0; i < m_rows.size(); ++i) rowOfView[m_rows[i]] = static_cast<int>(i);
  const QModelIndexList old = persistentIndexList();
  QModelIndexList moved;
  for (const QModelIndex& index : old)
    moved << this->index(rowOfView[before[static_cast<std::size_t>(index.row())]], index.column());
  changePersistentIndexList(old, moved);
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

int LayersModel::rowOf(const QString& name) const {
  const auto found =
      std::find_if(m_rows.begin(), m_rows.end(), [&](std::uint32_t view) { return m_views[view].view.node == name; });
  return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int LayersModel::rowOfKernel(const std::string& handle) const {
  for (int row = 0; row < rowCount(); ++row)
    if (!rowAt(row).node.valid() && handleOf(*rowAt(row).fused) == handle) return row;
  return -1;
}

std::string LayersModel::kernelAt(int row) const {
  return rowAt(row).node.valid() ? std::string() : handleOf(*rowAt(row).fused);
}

QList<int> LayersModel::rowsOf(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes) const {
  std::vector<bool> wanted(snapshot.nodes.size());
  for (const NodeId node : nodes)
    if (node.index < wanted.size()) wanted[node.index] = true;
  QList<int> rows;
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const Row& row = m_views[m_rows[i]];
    const bool is = row.node.valid() && m_levels[row.level].snapshot == &snapshot && wanted[row.node.index];
    if (is) rows << static_cast<int>(i);
  }
  return rows;
}

std::optional<PinChoice> LayersModel::pinOf(const QString& name) const {
  if (!m_snapshot) return std::nullopt;
  std::optional<PinChoice> choice;
  for (const Directive* directive : directivesNaming(m_snapshot->plan->options.directives, name.toStdString())) {
    if (formOf(*directive).asks == RequestedType::Calculated)
      choice = PinChoice{directive->type, directive->strictness};
  }
  return choice;
}

QString LayersModel::pinRefusalOf(const Row& row) const {
  if (!row.node.valid()) return QStringLiteral("This is a kernel: only nodes can be pinned.");
  return pinRefusal(*m_levels[row.level].snapshot->plan, row.node, DataType::F32);
}

int LayersModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LayersModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

}  // namespace fusescope
