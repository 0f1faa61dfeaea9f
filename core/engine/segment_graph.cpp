#include "engine/segment_graph.h"

#include <algorithm>
#include <map>

#include "analysis/fingerprint.h"
#include "base/hash.h"
#include "engine/boxed_values.h"

namespace fusescope {
namespace {

class SegmentGraphBuilder {
 public:
  SegmentGraphBuilder(const Plan& plan, const Segment& segment, const KernelRequests& requests)
      : m_plan(plan), m_graph(plan.graph()), m_segment(segment), m_requests(requests) {}

  Result<SegmentGraph> run(const std::function<bool(ValueId)>& isHandedOut) {
    m_editor.setName(m_segment.name);
    for (const NodeId id : m_segment.nodes) TRY(addNode(m_graph.node(id)));
    for (const NodeId id : m_segment.nodes)
      for (const ValueId output : m_graph.node(id).outputs)
        if (output.valid() && (isHandedOut(output) || isUsedOutside(output))) TRY(addOutput(output));
    m_made.request.graph = TRY(m_editor.publish());
    return std::move(m_made);
  }

 private:
  /// The same value here.
  ValueId note(ValueId here, ValueId value) {
    if (m_made.values.size() <= here.index) m_made.values.resize(here.index + 1);
    m_made.values[here.index] = value;
    m_here[value] = here;
    return here;
  }

  /// At the type that the network declares, with the extents of this run.
  TensorType typeOf(ValueId value) const {
    return {m_graph.value(value).type.dtype, m_requests.types()[value.index].shape};
  }

  Result<TensorDesc> descOf(ValueId value) const {
    return TensorDesc{m_plan.storedType(value), TRY(m_requests.dimsOf(value)), MemoryFormat()};
  }

  Result<ValueId> operand(ValueId value) {
    if (!value.valid()) return value;
    if (const auto known = m_here.find(value); known != m_here.end()) return known->second;
    const Value& given = m_graph.value(value);
    if (given.constant != nullptr) {
      const ValueId here = note(m_editor.addConstant(given.name, *given.constant), value);
      m_made.request.weightSlots.push_back(here);
      m_made.constants.push_back(*given.constant);
      return here;
    }
    m_made.inputs.push_back(value);
    m_made.request.inputs.push_back(TRY(descOf(value)));
    return note(m_editor.addInput(given.name, typeOf(value)), value);
  }

  Status addNode(const Node& node) {
    Node here = node;
    for (ValueId& input : here.inputs) input = TRY(operand(input));
    for (ValueId& output : here.outputs)
      if (output.valid()) output = note(m_editor.addValue(m_graph.value(output).name, typeOf(output)), output);
    here.origins.clear();
    m_editor.addNode(std::move(here));
    m_made.nodes.push_back(node.id);
    m_made.request.calculates.push_back(m_plan.calculates[node.id.index]);
    return Done{};
  }

  bool isUsedOutside(ValueId value) const {
    const Value& made = m_graph.value(value);
    const auto isOutside = [&](NodeId user) { return m_plan.fusedNodeOf(user)->segment != m_segment.id; };
    return m_graph.isOutput(value) || std::ranges::any_of(made.consumers, isOutside);
  }

  Status addOutput(ValueId value) {
    m_editor.addOutput(m_here.at(value));
    m_made.outputs.push_back(value);
    m_made.request.outputs.push_back(TRY(descOf(value)));
    return Done{};
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const Segment& m_segment;
  const KernelRequests& m_requests;
  GraphEditor m_editor;
  std::map<ValueId, ValueId> m_here;
  SegmentGraph m_made;
};

/// Puts the units of a plan in order: whoever is asked for comes behind all whose values it reads.
class UnitOrder {
 public:
  UnitOrder(const Plan& plan, const std::vector<bool>& isWhole)
      : m_plan(plan), m_isWhole(isWhole), m_done(plan.fusedNodes.size(), false) {}

  std::vector<RunUnit> run() {
    for (const FusedNode& fused : m_plan.fusedNodes) add(fused);
    return std::move(m_units);
  }

 private:
  void addProducers(const FusedNode& fused, bool ofSegment) {
    for (const ValueId input : fused.inputs) {
      const NodeId producer = m_plan.graph().value(input).producer;
      const FusedNode* from = producer.valid() ? m_plan.fusedNodeOf(producer) : nullptr;
      if (from != nullptr && !(ofSegment && from->segment == fused.segment)) add(*from);
    }
  }

  void add(const FusedNode& fused) {
    if (m_done[fused.id.index]) return;
    if (!m_isWhole[fused.segment.index]) {
      m_done[fused.id.index] = true;
      addProducers(fused, false);
      m_units.push_back({.fused = &fused});
      return;
    }
    const auto isOfSegment = [&](const FusedNode& other) { return other.segment == fused.segment; };
    for (const FusedNode& other : m_plan.fusedNodes)
      if (isOfSegment(other)) m_done[other.id.index] = true;
    for (const FusedNode& other : m_plan.fusedNodes)
      if (isOfSegment(other)) addProducers(other, true);
    m_units.push_back({.segment = &m_plan.segments[fused.segment.index]});
  }

  const Plan& m_plan;
  const std::vector<bool>& m_isWhole;
  std::vector<bool> m_done;
  std::vector<RunUnit> m_units;
};

}  // namespace

Result<SegmentGraph> segmentGraph(const Plan& plan, const Segment& segment, const KernelRequests& requests,
                                  const std::function<bool(ValueId)>& isHandedOut) {
  auto made = TRY(SegmentGraphBuilder(plan, segment, requests).run(isHandedOut));
  made.request.threads = requests.threads();
  return made;
}

std::string segmentKey(const Backend& backend, const SegmentRequest& request) {
  KeyBuilder context;
  context.text("segment").text(backend.name()).number(request.threads);
  for (const DataType type : request.calculates) context.text(name(type));
  for (const auto* values : {&request.graph->inputs(), &request.graph->outputs(), &request.weightSlots}) {
    context.number(values->size());
    for (const ValueId value : *values) context.number(value.index);
  }
  for (const auto* descs : {&request.inputs, &request.outputs})
    for (const TensorDesc& desc : *descs) context.text(name(desc.dtype));
  return structuralKey({.graph = request.graph.get(),
                        .nodes = request.graph->order(),
                        .describe = [&](ValueId value) { return request.graph->value(value).type.text(); },
                        .context = context.canonical()});
}

std::optional<std::string> whyInParts(const Plan& plan, const Segment& segment, const std::vector<TensorType>& types) {
  for (const FusedNode& fused : plan.fusedNodes)
    if (fused.segment == segment.id)
      if (auto why = whyDynamic(plan.graph(), types, fused)) return why;
  return std::nullopt;
}

std::vector<RunUnit> runUnits(const Plan& plan, const std::vector<bool>& isWhole) {
  return UnitOrder(plan, isWhole).run();
}

}  // namespace fusescope
