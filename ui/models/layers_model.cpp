#include "ui/models/layers_model.h"

#include <algorithm>

#include "planning/directives/directive_form.h"
#include "planning/fused_node_facts.h"
#include "ui/document/directive_edits.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr const char* kHeaders[] = {"Node",   "Op",  "Fused node", "Segment", "Computes",
                                    "Stored", "Pin", "FLOPs",      "Bytes",   "Time"};
constexpr const char* kHeaderTips[] = {
    "Node of the network, by its name in the file; in a body behind the name of its holder",
    "Operator",
    "The fused node that runs it, by its main node",
    "The segment it is in",
    "The type it calculates in; its operands in memory are read in it",
    "The type its result stands in memory at; inner: it lives in registers and is never stored; wider: "
    "there in a wider type than its kernel calculates in",
    "What was asked for; double click to choose. Several rows are pinned at once",
    "Floating-point operations; a multiply-add counts as two",
    "Bytes of inputs and outputs",
    "Measured time of the whole fused node, at its main node",
};

/// Empty where the kernel calculates in one type.
QString kernelTypesText(const Plan& plan, const FusedNode& fused) {
  QStringList names;
  for (const DataType type : calculatedTypes(plan, fused)) names << qs(type);
  return names.size() > 1 ? names.join(QStringLiteral(", ")) : QString();
}

QString storedText(const Plan& plan, const Node& node, const FusedNode& fused) {
  const ValueId result = node.outputs.empty() ? ValueId() : node.outputs.front();
  if (!result.valid()) return {};
  const auto edge = std::ranges::find(fused.innerEdges, result, &InnerEdge::value);
  const bool inner = edge != fused.innerEdges.end() && !edge->real;
  if (!inner) return qs(plan.storedType(result));
  return qs(edge->type) + (heldWider(fused, result) != nullptr ? QStringLiteral(" wider") : QStringLiteral(" inner"));
}

QString quotedText(const QString& field) {
  if (!field.contains(QLatin1Char(',')) && !field.contains(QLatin1Char('"')) && !field.contains(QLatin1Char('\n')))
    return field;
  QString doubled = field;
  doubled.replace(QLatin1Char('"'), QStringLiteral("\"\""));
  return QLatin1Char('"') + doubled + QLatin1Char('"');
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
  if (!sameModel) {
    arrange();
    endResetModel();
    return;
  }
  // The same rows with other content: selection, scroll position and an open editor survive.
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
  if (times.shares(m_times)) return;
  m_times = std::move(times);
  readTimes();
  if (!m_rows.empty()) emit dataChanged(index(0, kTime), index(rowCount() - 1, kTime));
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
  const Plan& plan = *m_levels[level].snapshot->plan;
  std::vector<std::size_t> viewOf(plan.graph().nodeIdLimit());
  m_views.reserve(m_views.size() + plan.graph().nodeCount());
  for (const NodeId id : plan.graph().order()) {
    viewOf[id.index] = m_views.size();
    m_views.push_back(readNode(level, id));
  }
  for (const Directive& directive : plan.options.directives) {
    if (formOf(directive).asks != AskedType::Calculated) continue;
    const auto node = plan.graph().findNode(directive.pattern);
    if (!node) continue;
    Row& row = m_views[viewOf[node->index]];
    row.view.pinned = true;
    row.pin = PinChoice{directive.type, directive.strictness}.text();
  }
  // A fused node is called by its main node, whose row has the name.
  for (const NodeId id : plan.graph().order()) {
    const FusedNode* fused = m_levels[level].snapshot->fusedOf(id);
    if (fused == nullptr) continue;
    const NodeId root = fused->root.valid() ? fused->root : fused->nodes.front();
    m_views[viewOf[id.index]].view.fused = m_views[viewOf[root.index]].view.node;
  }
}

const QString& LayersModel::shared(const std::string& text) {
  const auto [entry, isNew] = m_sharedOf.try_emplace(text);
  if (isNew) entry->second = qs(text);
  return entry->second;
}

QString LayersModel::fusedNameOf(const Row& row) const {
  const FusedNode* fused = m_levels[row.level].snapshot->fusedOf(row.node);
  return fused == nullptr ? QString() : qs(m_levels[row.level].prefix + fused->name);
}

LayersModel::Row LayersModel::readNode(std::uint32_t level, NodeId id) {
  const PlanSnapshot& snapshot = *m_levels[level].snapshot;
  const std::string& prefix = m_levels[level].prefix;
  const Plan& plan = *snapshot.plan;
  const Node& node = plan.graph().node(id);
  const auto& facts = snapshot.facts(id);
  Row row;
  row.node = id;
  row.level = level;
  row.view.node = qs(prefix + node.name);
  row.view.op = shared(node.op);
  row.view.inside = shared(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
  row.root = facts.root;
  if (facts.flops) row.view.flops = static_cast<double>(*facts.flops);
  if (facts.bytes) row.view.bytes = static_cast<double>(*facts.bytes);
  if (const FusedNode* fused = snapshot.fusedOf(id)) {
    const Segment& segment = plan.segments[fused->segment.index];
    row.predicted = fused->nodes.size() > 1 && isPrediction(plan, *fused);
    row.kernelTypes = shared(kernelTypesText(plan, *fused));
    row.stored = shared(storedText(plan, node, *fused));
    row.view.isFused = fused->nodes.size() > 1;
    row.view.segment = shared(prefix + segment.name);
    row.view.fallback = segment.kind == SegmentKind::Fallback;
  }
  if (const PrecisionGrant* grant = snapshot.grantOf(id)) {
    if (grant->granted != DataType::Undefined) row.view.dtype = shared(qs(grant->granted));
    if (grant->asked != DataType::Undefined && grant->by.starts_with("pin")) {
      row.pin = qs(grant->asked);
      row.view.pinned = true;
    }
  }
  return row;
}

void LayersModel::readTimes() {
  for (Row& row : m_views) {
    row.view.ms.reset();
    row.time = {};
    const FusedNode* fused = row.root ? m_levels[row.level].snapshot->fusedOf(row.node) : nullptr;
    if (fused == nullptr) continue;
    const std::string handle = m_times.empty() ? std::string() : m_levels[row.level].prefix + handleOf(*fused);
    row.time = shownTime(m_times, handle, fused->predictedMs, fused->predictedHow == PriceSource::Fitted);
    if (row.time.known()) row.view.ms = row.time.ms;
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

QList<int> LayersModel::rowsOf(const PlanSnapshot& plan, const std::vector<NodeId>& nodes) const {
  std::vector<bool> wanted(plan.nodes.size());
  for (const NodeId node : nodes)
    if (node.index < wanted.size()) wanted[node.index] = true;
  QList<int> rows;
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const Row& row = m_views[m_rows[i]];
    if (m_levels[row.level].snapshot == &plan && wanted[row.node.index]) rows << static_cast<int>(i);
  }
  return rows;
}

std::optional<PinChoice> LayersModel::pinOf(const QString& name) const {
  if (!m_snapshot) return std::nullopt;
  std::optional<PinChoice> choice;
  for (const Directive* directive : directivesNaming(m_snapshot->plan->options.directives, name.toStdString())) {
    if (formOf(*directive).asks == AskedType::Calculated) choice = PinChoice{directive->type, directive->strictness};
  }
  return choice;
}

QString LayersModel::pinRefusalOf(const Row& row) const {
  return pinRefusal(*m_levels[row.level].snapshot->plan, row.node, DataType::F32);
}

namespace {

/// Sums of rows; nothing where one is not known. Times: of those that have one.
struct RowSums {
  std::int64_t rows = 0;
  std::optional<double> flops = 0, bytes = 0;
  double ms = 0;
  std::int64_t kernels = 0, timed = 0;
  bool measured = true;  ///< every time that was added is of a run of this plan

  /// `kernel`: it is where its kernel's time stands.
  void add(const LayerView& view, const ShownTime& time, bool kernel) {
    ++rows;
    kernels += kernel;
    if (kernel && time.known()) {
      ++timed;
      ms += time.ms;
      measured = measured && time.kind == TimeKind::Measured;
    }
    flops = flops && view.flops ? std::optional(*flops + *view.flops) : std::nullopt;
    bytes = bytes && view.bytes ? std::optional(*bytes + *view.bytes) : std::nullopt;
  }
  /// What is a part of the kernels' time is not said as if it were the whole.
  QString timeText() const {
    if (timed == 0) return {};
    const QString sum = (measured ? QStringLiteral(", ") : QStringLiteral(", ≈ ")) + shortMsText(ms);
    return timed == kernels
               ? sum
               : sum + QStringLiteral(" for %1 of %2").arg(timed).arg(plural(kernels, QStringLiteral("kernel")));
  }
  QString text() const {
    const auto whole = [](const std::optional<double>& number) {
      return number ? std::optional<std::int64_t>(static_cast<std::int64_t>(*number)) : std::nullopt;
    };
    return QStringLiteral("%1: %2 FLOPs, %3%4")
        .arg(plural(rows, QStringLiteral("node")), countText(whole(flops)), bytesText(whole(bytes)), timeText());
  }
};

}  // namespace

QString LayersModel::totalsText() const {
  RowSums own, inside;
  for (const std::uint32_t row : m_rows) {
    const Row& view = m_views[row];
    (view.level == 0 ? own : inside).add(view.view, view.time, view.root);
  }
  if (m_levels.size() < 2) return own.text();
  if (inside.rows == 0) return QStringLiteral("%1 · bodies are not counted").arg(own.text());
  return QStringLiteral("%1 · not counted: in bodies %2, each body once").arg(own.text(), inside.text()) +
         (inside.timed > 0 ? QStringLiteral(" (the time of all its calls, which its holder's includes)") : QString());
}

int LayersModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LayersModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QString LayersModel::text(const Row& row, int column) const {
  const auto whole = [](const std::optional<double>& number) {
    return number ? std::optional<std::int64_t>(static_cast<std::int64_t>(*number)) : std::nullopt;
  };
  switch (column) {
    case kNode:
      return row.view.node;
    case kOp:
      return row.view.op;
    case kFused:
      return row.view.isFused ? row.view.fused : QString();
    case kSegment:
      return row.view.segment;
    case kCompute:
      return row.view.dtype;
    case kStored:
      return row.stored;
    case kPin:
      return row.pin;
    case kFlops:
      return countText(whole(row.view.flops));
    case kBytes:
      return bytesText(whole(row.view.bytes));
    case kTime:
      return row.time.kind == TimeKind::Unknown ? QString() : timeText(row.time);
    default:
      return {};
  }
}

QVariant LayersModel::toolTip(const Row& row, int column) const {
  if (column == kFused)
    return row.predicted ? fusedNameOf(row) + QStringLiteral("\npredicted: the target fuses by rules of its own")
                         : fusedNameOf(row);
  if (column == kCompute && !row.kernelTypes.isEmpty())
    return QStringLiteral("%1; its kernel calculates in %2").arg(row.view.dtype, row.kernelTypes);
  if (column == kTime && row.time.kind != TimeKind::Unknown) {
    const QString calls =
        row.level > 0 ? QStringLiteral("; in one run of the network: all calls of its body together") : QString();
    return kindText(row.time.kind) + calls;
  }
  if (column == kTime) {
    if (!m_timesUnknown.isEmpty()) return m_timesUnknown;
    if (row.root && row.level > 0 && !m_times.empty()) return QStringLiteral("Its body did not run.");
    return row.root ? QStringLiteral("Not measured yet: build an engine.")
                    : QStringLiteral("Measured with its fused node, at %1.").arg(row.view.fused);
  }
  if (const CostRange* range = m_levels[row.level].snapshot->rangeOf(row.node);
      range != nullptr && (column == kFlops || column == kBytes)) {
    const auto text = [&](const CostAt& at) { return column == kFlops ? countText(at.flops) : bytesText(at.bytes); };
    return QStringLiteral("%1; %2 at the least and at the most extents of the inputs")
        .arg(this->text(row, column), rangeText(text(range->least), text(range->most)));
  }
  if (column == kPin) {
    const QString refusal = pinRefusalOf(row);
    return refusal.isEmpty()
               ? QStringLiteral("Double click to pin. Ctrl+click or Shift+click rows to pin several at once.")
               : refusal;
  }
  return text(row, column);
}

QVariant LayersModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& row = rowAt(index.row());
  const bool number = index.column() >= kFlops;
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == kNode && !m_failing.isEmpty() && row.view.node == m_failing)
        return QStringLiteral("✗ ") + row.view.node;
      return text(row, index.column());
    case Qt::ToolTipRole:
      return toolTip(row, index.column());
    case Qt::TextAlignmentRole:
      return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kNameRole:
      return row.view.node;
    case kToneRole: {
      if (index.column() == kNode && !m_failing.isEmpty() && row.view.node == m_failing)
        return static_cast<int>(Tone::Bad);
      const bool differs = index.column() == kCompute && row.view.pinned && !row.pin.startsWith(row.view.dtype);
      if (differs) return static_cast<int>(Tone::Warning);
      if (index.column() == kSegment && row.view.fallback) return static_cast<int>(Tone::Warning);
      if (index.column() == kPin) return static_cast<int>(Tone::Good);
      return static_cast<int>(index.column() == kNode ? Tone::Plain : Tone::Dim);
    }
    default:
      return {};
  }
}

QVariant LayersModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role == Qt::DisplayRole) return QString::fromLatin1(kHeaders[section]);
  if (role == Qt::ToolTipRole) return QString::fromLatin1(kHeaderTips[section]);
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section >= kFlops ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

Qt::ItemFlags LayersModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = QAbstractTableModel::flags(index) | Qt::ItemNeverHasChildren;
  if (index.column() == kPin && pinRefusalOf(rowAt(index.row())).isEmpty()) flags |= Qt::ItemIsEditable;
  return flags;
}

QString LayersModel::csv() const {
  QString out = QStringLiteral("node,op,fused_node,segment,compute,stored,pin,flops,bytes,time_ms\n");
  const auto number = [](const std::optional<double>& value) {
    return value ? QString::number(*value, 'g', 15) : QString();
  };
  for (const std::uint32_t view : m_rows) {
    const Row& row = m_views[view];
    const QStringList fields{quotedText(row.view.node),    quotedText(row.view.op), quotedText(fusedNameOf(row)),
                             quotedText(row.view.segment), row.view.dtype,          row.stored,
                             quotedText(row.pin),          number(row.view.flops),  number(row.view.bytes),
                             number(row.view.ms)};
    out += fields.join(QLatin1Char(',')) + QLatin1Char('\n');
  }
  return out;
}

}  // namespace fusescope
