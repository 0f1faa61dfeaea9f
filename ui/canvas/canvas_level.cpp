#include "ui/canvas/canvas_level.h"

#include <algorithm>
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

// If a value has more readers than this, it is drawn as stubs, because wires to all readers would cross most of the
// picture.
constexpr int kStubsOfInput = 6;  // of an input of the network
constexpr int kStubsOfValue = 8;  // of any other value

/// Returns the time of a conversion with the sign for its source, or its bytes if the time is unknown.
QString castCostText(const PlannedCast& cast) {
  if (cast.predictedMs)
    return timeText(
        {cast.predictedHow == PriceSource::Fitted ? TimeKind::Fitted : TimeKind::Predicted, *cast.predictedMs});
  return cast.bytes ? bytesText(cast.bytes) : QString();
}

void describeCast(CanvasEdge& edge, const PlannedCast& cast) {
  const QString arrow = QString("%1\u2192%2").arg(qs(cast.from), qs(cast.to));
  edge.cast = arrow;
  edge.castCost = castCostText(cast);
  edge.tooltip += "\ncast " + arrow;
  if (cast.predictedMs)
    edge.tooltip += QStringLiteral(", ") + predictedText(*cast.predictedMs, cast.predictedHow, cast.predictedSpread);
  if (cast.bytes) edge.tooltip += QString(", %1 bytes moved").arg(qlonglong(*cast.bytes));
  edge.tooltip += ", because of: " + qs(cast.reason).replace('_', ' ');
}

}  // namespace

CanvasLevel::CanvasLevel(const LevelParts& of, std::size_t place)
    : parts(of), place(place), itemOfNode(of.graph().nodeIdLimit(), -1) {}

bool CanvasLevel::staysInside(ValueId value) const {
  if (!holders.empty() || !graph().has(value)) return false;
  const NodeId producer = graph().value(value).producer;
  if (!producer.valid()) return false;
  const int item = itemOfNode[producer.index];
  return std::ranges::all_of(graph().value(value).consumers,
                             [&](NodeId reader) { return itemOfNode[reader.index] == item; });
}

// Calls `take` with the items that represent `node` as a reader of `value`: the node's own item, or the items that read
// the value in its open bodies.
template <class Take>
void CanvasLevel::takersOf(const Node& node, ValueId value, const Take& take) const {
  const auto found = holders.find(node.id.index);
  if (found == holders.end()) return take(itemOfNode[node.id.index]);
  const Holder& holder = found->second;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != value) continue;
    if (node.is("If") && holder.condition >= 0) take(holder.condition);
    if (node.is("If")) continue;
    for (const CanvasLevel* body : holder.bodies)
      if (i < body->graph().inputs().size()) take(body->itemOfInput.at(body->graph().inputs()[i].index));
  }
  for (std::size_t b = 0; b < holder.bodies.size(); ++b) {
    const std::vector<ValueId>& captures = holder.graphs[b]->captures;
    const std::vector<ValueId>& inputs = holder.bodies[b]->graph().inputs();
    for (std::size_t i = 0; i < captures.size() && captures.size() <= inputs.size(); ++i)
      if (captures[i] == value)
        take(holder.bodies[b]->itemOfInput.at(inputs[inputs.size() - captures.size() + i].index));
  }
}

std::vector<CanvasLevel::Use> CanvasLevel::usesOf(ValueId value) const {
  std::vector<Use> uses;
  if (!value.valid() || !graph().has(value) || graph().isConstant(value)) return uses;
  const auto isBefore = [&](NodeId a, NodeId b) { return parts.placeOfNode[a.index] < parts.placeOfNode[b.index]; };
  std::vector<NodeId> readers = graph().value(value).consumers;
  if (!std::is_sorted(readers.begin(), readers.end(), isBefore)) std::sort(readers.begin(), readers.end(), isBefore);
  for (const NodeId reader : readers) {
    const int fused = parts.fusedOfNode[reader.index];
    takersOf(graph().node(reader), value, [&](int item) {
      const bool known = std::any_of(uses.begin(), uses.end(), [&](const Use& other) { return other.item == item; });
      if (!known) uses.push_back({item, fused < 0 ? FusedNodeId() : cover.fusedNodes[std::size_t(fused)].id});
    });
  }
  return uses;
}

std::vector<int> CanvasLevel::sourcesOf(ValueId value) const {
  if (const auto input = itemOfInput.find(value.index); input != itemOfInput.end()) return {input->second};
  const NodeId producer = graph().value(value).producer;
  if (!producer.valid()) return {};
  const auto holder = holders.find(producer.index);
  if (holder == holders.end()) return {itemOfNode[producer.index]};
  const Node& node = graph().node(producer);
  const auto place = std::size_t(std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin());
  std::vector<int> sources;
  for (const CanvasLevel* body : holder->second.bodies) {
    // The first output of a Loop's body is the condition for the next iteration.
    const std::size_t result = place + (node.is("Loop") ? 1 : 0);
    if (result < body->outputs.size()) sources.push_back(body->outputs[result].second);
  }
  return sources;
}

bool CanvasLevel::isDrawnAsStubs(ValueId value, const std::vector<Use>& uses) const {
  return uses.size() > std::size_t(itemOfInput.contains(value.index) ? kStubsOfInput : kStubsOfValue);
}

// Adds an edge between the items that represent producer and reader, for every value that is passed between different
// items.
void CanvasWires::connect(const CanvasLevel& level) {
  std::vector<bool> known(level.graph().valueIdLimit(), false);
  for (const NodeId id : level.graph().order()) {
    for (const ValueId value : operands(level.graph().node(id))) {
      if (!value.valid() || known[value.index]) continue;
      known[value.index] = true;
      if (level.staysInside(value)) continue;
      if (const auto uses = level.usesOf(value); !uses.empty()) addValue(level, value, uses);
    }
  }
  for (const auto& [value, item] : level.outputs) addOutput(level, value, item);
}

void CanvasWires::addValue(const CanvasLevel& level, ValueId value, const std::vector<CanvasLevel::Use>& uses) {
  const bool stubs = level.isDrawnAsStubs(value, uses);
  for (const int source : level.sourcesOf(value)) {
    bool first = true;
    for (const CanvasLevel::Use& reader : uses) {
      if (reader.item == source) continue;
      if (!stubs || first) {
        add(level, source, reader.item, value,
            reader.fused.valid() ? level.items.castTo(value, reader.fused) : nullptr);
      } else if (reader.item >= m_first) {
        level.items.addStub(m_items.edit(std::size_t(reader.item)), value);
      }
      first = false;
    }
  }
}

void CanvasWires::addOutput(const CanvasLevel& level, ValueId value, int item) {
  for (const int source : level.sourcesOf(value))
    add(level, source, item, value, level.items.castTo(value, FusedNodeId()));
}

void CanvasWires::add(const CanvasLevel& level, int from, int to, ValueId value, const PlannedCast* cast) {
  if (from < m_first && to < m_first) return;
  const auto [it, added] = m_edgeOf.try_emplace(std::uint64_t(from) << 32U | std::uint32_t(to), int(m_edges.size()));
  if (added) m_edges.push_back({.from = from, .to = to});
  CanvasEdge& edge = m_edges[std::size_t(it->second)];
  const QString type = level.items.typeText(value);
  if (!added) edge.tooltip += QLatin1Char('\n');
  edge.tooltip += qs(level.graph().value(value).name) + QLatin1String("  ") + type;
  if (added) edge.label = type;
  if (cast != nullptr) describeCast(edge, *cast);
}

}  // namespace fusescope
