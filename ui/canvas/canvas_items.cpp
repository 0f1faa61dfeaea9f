#include "ui/canvas/canvas_items.h"

#include <algorithm>
#include <cmath>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "planning/fusion/match.h"
#include "planning/kinds.h"
#include "planning/plan_totals.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr std::size_t kOpsInTitle = 3;

const QString kDot = QStringLiteral(" \u00b7 ");

/// Returns the type with an ellipsis instead of each symbol that is too long for a box; exporters use names such as
/// "p2o.DynamicDimension.0". The inspector shows the full names.
TensorType withShortExtents(TensorType type) {
  constexpr std::size_t kMost = 12;
  for (Dim& dim : type.shape.dims)
    if (!dim.known() && dim.symbol.size() > kMost) dim.symbol = "…";
  return type;
}

QString timeRangeText(double leastMs, double mostMs) {
  return leastMs == mostMs ? msText(leastMs) : QStringLiteral("%1 to %2").arg(msText(leastMs), msText(mostMs));
}

/// Returns the time of a holder's bodies as text. It is empty if it is unknown, and for other nodes.
QString bodyTimeText(const FusedNode& fused) {
  if (!fused.bodyTime) return {};
  const QString range = timeRangeText(fused.bodyTime->leastMs, fused.bodyTime->mostMs);
  return fused.bodyTime->perIteration ? range + QStringLiteral(" an iteration") : range;
}

/// Returns the operators after which a kernel is named, the main one first. Operators that only move elements or
/// convert them are left out, unless one of them is the main operator.
std::vector<std::string> namingOperators(const Graph& graph, const FusedNode& fused) {
  std::vector<std::string> ops;
  const bool hasRoot = fused.root.valid() && graph.has(fused.root);
  if (hasRoot) ops.push_back(graph.node(fused.root).op);
  for (const NodeId id : fused.nodes) {
    const Node& node = graph.node(id);
    const bool beside = convertsCodes(node) || node.is("Cast") || node.is("Transpose") || isView(graph, node);
    if (!hasRoot || (id != fused.root && !beside)) ops.push_back(node.op);
  }
  return ops;
}

/// Returns the title of a kernel, with `codes` after its main operator. A kernel of many parts gets the name of its
/// kind.
QString kernelTitle(const Graph& graph, const FusedNode& fused, const QString& codes) {
  const std::vector<std::string> ops = namingOperators(graph, fused);
  if (ops.size() > 1 && std::ranges::count(ops, ops.front()) == std::ssize(ops))  // several products of one input
    return QStringLiteral("%1 ×%2%3").arg(qs(ops.front())).arg(ops.size()).arg(codes);
  if (ops.size() <= kOpsInTitle && fused.kind != kinds::kAttention) {
    QStringList names;
    for (const std::string& op : ops) names << qs(op) + (names.isEmpty() ? codes : QString());
    return names.join(QStringLiteral(" + "));
  }
  const QString kind = qs(fused.kind).replace('_', ' ');
  for (const std::string& op : ops)  // a kind that is named after an operator is written as the operator is
    if (qs(op).compare(kind, Qt::CaseInsensitive) == 0) return qs(op) + codes;
  return kind.left(1).toUpper() + kind.mid(1) + codes;
}

QString nodesText(std::size_t count) {
  return count == 1 ? QStringLiteral("1 node") : QStringLiteral("%1 nodes").arg(count);
}

}  // namespace

bool containsBodies(const Cover& cover, const FusedNode& fused) {
  return std::any_of(cover.bodies.begin(), cover.bodies.end(), [&](const CoverBody& body) {
    return std::find(fused.nodes.begin(), fused.nodes.end(), body.holder) != fused.nodes.end();
  });
}

CanvasItems::CanvasItems(const Cover& cover, BodyPath path, const CanvasFonts& fonts)
    : m_cover(cover),
      m_facts(cover),
      m_made(asReadBack(cover)),
      m_graph(cover.graph()),
      m_path(std::move(path)),
      m_fonts(fonts),
      m_stored(cover.graph().valueIdLimit(), DataType::Undefined),
      m_inner(cover.graph().valueIdLimit(), Inner::No),
      m_storedTexts(cover.graph().valueIdLimit()) {
  setTypes();
  for (const PlannedCast& cast : cover.casts) {
    for (const FusedNodeId& consumer : cast.consumers) m_castOf[{cast.value.index, consumer.index}] = &cast;
    if (cast.consumers.empty()) m_castOfOutput[cast.value.index] = &cast;
  }
}

// Collects the types of values in memory.
void CanvasItems::setTypes() {
  if (const Plan* plan = asPlan(m_cover)) {
    for (const TruncatedValue& value : plan->truncation.inputs) m_stored[value.value.index] = value.to;
    for (const TruncatedValue& value : plan->truncation.produced) m_stored[value.value.index] = value.to;
  }
  for (const FusedNode& fused : m_cover.fusedNodes) {
    for (const InnerEdge& inner : fused.innerEdges) {
      m_stored[inner.value.index] = inner.type;
      if (!inner.real)
        m_inner[inner.value.index] = keptInWiderType(fused, inner.value) != nullptr ? Inner::HeldWider : Inner::Held;
    }
    for (const FusedOutput& output : fused.outputs) m_stored[output.value.index] = output.type;
  }
}

const QString& CanvasItems::shared(const std::string& said) const {
  const auto [entry, isNew] = m_shared.try_emplace(said);
  if (isNew) entry->second = qs(said);
  return entry->second;
}

DataType CanvasItems::storedType(ValueId value) const {
  const DataType stored = m_stored[value.index];
  if (stored != DataType::Undefined) return stored;
  return m_made == nullptr ? m_graph.value(value).type.dtype : m_made->storedType(value);
}

const QString& CanvasItems::storedText(ValueId value) const {
  QString& known = m_storedTexts[value.index];
  if (!known.isNull()) return known;
  TensorType type = withShortExtents(m_graph.value(value).type);
  const DataType stored = storedType(value);
  if (stored == DataType::Undefined) return known = shared(undisclosedText(type));
  type.dtype = stored;
  return known = shared(type.text());
}

QString CanvasItems::typeText(ValueId value) const {
  switch (m_inner[value.index]) {
    case Inner::No:
      return storedText(value);
    case Inner::Held:
      return storedText(value) + QStringLiteral(" inner");
    case Inner::HeldWider:
      return storedText(value) + QStringLiteral(" held wider");
  }
  return {};
}

const PlannedCast* CanvasItems::castTo(ValueId value, FusedNodeId reader) const {
  if (!reader.valid()) {
    const auto it = m_castOfOutput.find(value.index);
    return it == m_castOfOutput.end() ? nullptr : it->second;
  }
  const auto it = m_castOf.find({value.index, reader.index});
  return it == m_castOf.end() ? nullptr : it->second;
}

QString CanvasItems::handleOf(const FusedNode& fused) const {
  return qs(m_path.exactly(fusescope::handleOf(fused)));
}

CanvasItem CanvasItems::fused(const FusedNode& fused, const QString& name, const QString& handle,
                              std::size_t drawn) const {
  CanvasItem item;
  item.name = name;
  item.key = handle;
  item.kindName = shared(fused.kind);
  item.prediction = fused.nodes.size() > 1 && isPrediction(m_cover, fused);
  item.nodes = int(fused.nodes.size());
  if (m_made != nullptr) item.certainty = leastCertain(*m_made, fused);
  item.canOpen = drawn > 1 || containsBodies(m_cover, fused);
  item.title = titleOf(fused);
  const NodeId root = fused.root.valid() ? fused.root : fused.nodes.empty() ? NodeId() : fused.nodes.front();
  item.detail = root.valid() && m_graph.has(root) ? qs(m_graph.node(root).name) : qs(fused.name);
  if (item.nodes > 1) item.detail += QString(" +%1").arg(item.nodes - 1);
  if (!fused.outputs.empty()) item.meta = storedText(fused.outputs.front().value);
  if (const QString time = bodyTimeText(fused); !time.isEmpty()) item.meta += (item.meta.isEmpty() ? "" : kDot) + time;
  item.precision = m_facts.typeOf(fused);
  item.facts = m_facts.of(fused);
  item.facts.guessed = item.isGuessed();
  item.untimed = timeWithoutRun(m_cover, fused);
  item.timeKey = item.key;
  item.fallback = m_cover.inFallback(fused);
  for (const NodeId node : fused.nodes) item.constants += constantsOf(m_graph.node(node));
  return item;
}

QString CanvasItems::titleOf(const FusedNode& fused) const {
  const bool multipliesCodes =
      fused.root.valid() && isByteInteger(m_facts.typeOf(fused)) && !convertsCodes(m_graph.node(fused.root));
  return shared(kernelTitle(m_graph, fused, multipliesCodes ? QStringLiteral(" (int8)") : QString()).toStdString());
}

CanvasItem CanvasItems::node(const Node& node, const QString& name, const FusedNode* fused) const {
  CanvasItem item;
  item.kind = ItemKind::Node;
  item.name = name;
  item.key = "n:" + item.name;
  item.title = shared(node.op);
  item.detail = qs(node.name);
  item.nodes = 1;
  item.constants = constantsOf(node);
  item.kindName = fused == nullptr ? QString() : shared(fused->kind);
  item.fallback = fused != nullptr && m_cover.inFallback(*fused);
  if (m_made != nullptr) item.certainty = certaintyOf(*m_made, fused, node.id);
  if (m_made != nullptr && fused == nullptr) item.fate = fateWord(m_made->fateOf(node.id));
  if (node.outputs.empty() || !node.outputs.front().valid()) {
    item.precision = fused ? fused->compute : DataType::Undefined;
  } else {
    item.meta = typeText(node.outputs.front());
    item.precision = m_facts.typeOf(node, fused, storedType(node.outputs.front()));
  }
  item.facts = m_facts.of(node, fused);
  item.facts.guessed = item.isGuessed();
  sizeBox(item);
  return item;
}

CanvasItem CanvasItems::pill(ValueId id, ItemKind kind, const QString& note) const {
  const Value& value = m_graph.value(id);
  CanvasItem item;
  item.kind = kind;
  item.name = nameOf(value.name);
  item.key = (kind == ItemKind::Input ? "i:" : "o:") + item.name;
  item.title = m_fonts.title.elided(qs(value.name), metrics::kWidestBox - 60);
  item.detail =
      m_fonts.meta.elided(qs(value.type.text()) + (note.isEmpty() ? note : kDot + note), metrics::kWidestBox - 40);
  item.precision = value.type.dtype;
  item.kindName = shared(kind == ItemKind::Input ? "input" : "output");
  item.size = {std::max({m_fonts.title.width(item.title), m_fonts.meta.width(item.detail), 60.0}) + 44,
               metrics::kPillHeight};
  return item;
}

CanvasItem CanvasItems::body(const CoverBody& body) const {
  CanvasItem item;
  item.name = qs(m_path.into(m_graph.node(body.holder), body.attribute).text());
  item.key = "b:" + item.name;
  item.title = bodyTitle(body.attribute);
  const std::size_t nodes = body.cover->graph().nodeCount(), kernels = body.cover->fusedNodes.size();
  item.detail = QStringLiteral("%1 in %2")
                    .arg(nodesText(nodes),
                         kernels == 1 ? QStringLiteral("1 fused node") : QStringLiteral("%1 fused nodes").arg(kernels));
  const PredictedTime time = predictedTime(*body.cover);
  if (time.unknown == 0 && time.mostMs > 0) item.detail += kDot + timeRangeText(time.leastMs, time.mostMs);
  item.nodes = int(nodes);
  return item;
}

void CanvasItems::addStub(CanvasItem& reader, ValueId value) const {
  const QString name = m_fonts.meta.elided(qs(m_graph.value(value).name), 110);
  if (reader.open || reader.stubs.contains(name)) return;
  if (reader.stubs.isEmpty()) reader.size.rheight() += metrics::kStubRow;
  reader.stubs << name;
  double width = 2 * metrics::kBoxPaddingX + metrics::kStripe;
  for (const QString& stub : reader.stubs)
    width += m_fonts.meta.width(stub) + metrics::kStubPadding + metrics::kStubGap + 4;
  reader.size.setWidth(std::min(std::max(reader.size.width(), width), metrics::kWidestBox));
}

int CanvasItems::constantsOf(const Node& node) const {
  return int(std::count_if(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId v) { return v.valid() && m_graph.isConstant(v); }));
}

void CanvasItems::size(CanvasItem& item) const {
  if (!item.open) return sizeBox(item);
  const double title = m_fonts.title.width(item.title);
  const double width = item.container->look.oneLine ? title + m_fonts.detail.width(item.detail + kDot + item.meta) + 64
                                                    : std::max(title + metrics::kBadgeWidth + 56,
                                                               std::min(m_fonts.detail.width(item.detail) + 96, 240.0));
  item.size = {std::ceil(width), 0};
}

void CanvasItems::sizeBox(CanvasItem& item) const {
  const double room = metrics::kWidestBox - 2 * metrics::kBoxPaddingX - metrics::kStripe;
  const double badge = item.fate.isEmpty()
                           ? metrics::kBadgeWidth
                           : std::max(metrics::kBadgeWidth, m_fonts.meta.width(item.fate) + metrics::kBadgePadding);
  const double time = item.timeKey.isEmpty() && item.block == nullptr
                          ? 0
                          : m_fonts.meta.width(QLatin1String(metrics::kWidestTime)) + metrics::kTimeGap +
                                (item.block == nullptr ? 0 : m_fonts.meta.width(QStringLiteral("\u2265 ~ ")));
  item.title = m_fonts.title.elided(item.title, room - badge);
  item.detail = m_fonts.detail.elided(item.detail, room);
  item.meta = m_fonts.meta.elided(item.meta, room - time);
  const double widest = std::max({m_fonts.title.width(item.title) + badge + 6, m_fonts.detail.width(item.detail),
                                  m_fonts.meta.width(item.meta) + 8 + time});
  const double width = std::max(widest + 2 * metrics::kBoxPaddingX + metrics::kStripe, metrics::kLeastBox);
  item.size = {std::ceil(width), metrics::kBoxHeight};
}

}  // namespace fusescope
