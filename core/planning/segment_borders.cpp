#include "planning/segment_borders.h"

#include <map>
#include <set>
#include <tuple>

#include "analysis/cost.h"
#include "planning/structure.h"

namespace fusescope {

namespace {

class BorderFinder {
 public:
  explicit BorderFinder(const Plan& plan)
      : m_plan(plan), m_graph(plan.graph()), m_in(plan.segments.size()), m_out(plan.segments.size()) {
    for (const PlannedCast& cast : plan.casts) {
      for (const FusedNodeId consumer : cast.consumers) m_castOf[{cast.value, consumer}] = &cast;
      if (cast.consumers.empty()) m_castOfOutput[cast.value] = &cast;
    }
  }

  std::vector<std::vector<SegmentBorder>> run() {
    for (const FusedNode& reader : m_plan.fusedNodes)
      for (const ValueId value : reader.inputs) read(value, reader);
    for (const ValueId value : m_graph.outputs()) {
      const SegmentId from = segmentOf(value);
      const auto cast = m_castOfOutput.find(value);
      if (from.valid()) leave(from, value, SegmentId(), cast == m_castOfOutput.end() ? nullptr : cast->second);
    }
    for (std::size_t i = 0; i < m_in.size(); ++i) m_in[i].insert(m_in[i].end(), m_out[i].begin(), m_out[i].end());
    return std::move(m_in);
  }

 private:
  SegmentId segmentOf(ValueId value) const {
    const NodeId producer = m_graph.value(value).producer;
    const FusedNode* fused = producer.valid() ? m_plan.fusedNodeOf(producer) : nullptr;
    return fused != nullptr ? fused->segment : SegmentId();
  }

  SegmentBorder border(ValueId value, SegmentBorder::Direction direction, SegmentId other,
                       const PlannedCast* cast) const {
    const DataType type = m_plan.storedType(value);
    const Structure& structure = *m_plan.structure;
    SegmentBorder border{.value = value,
                         .direction = direction,
                         .other = other,
                         .type = type,
                         .bytes = bytesOfValue(*structure.usual, value, type),
                         .range = {},
                         .conversion = cast};
    if (structure.least != nullptr)
      border.range = CostRange{.least = {.flops = {}, .bytes = bytesOfValue(*structure.least, value, type), .ms = {}},
                               .most = {.flops = {}, .bytes = bytesOfValue(*structure.most, value, type), .ms = {}}};
    return border;
  }

  void read(ValueId value, const FusedNode& reader) {
    const SegmentId from = segmentOf(value);
    if (from == reader.segment) return;
    const auto cast = m_castOf.find({value, reader.id});
    const PlannedCast* conversion = cast == m_castOf.end() ? nullptr : cast->second;
    if (!m_known.insert({value, reader.segment, conversion}).second) return;
    m_in[reader.segment.index].push_back(border(value, SegmentBorder::Direction::In, from, conversion));
    if (from.valid()) leave(from, value, reader.segment, conversion);
  }

  void leave(SegmentId from, ValueId value, SegmentId to, const PlannedCast* conversion) {
    m_out[from.index].push_back(border(value, SegmentBorder::Direction::Out, to, conversion));
  }

  const Plan& m_plan;
  const Graph& m_graph;
  std::map<std::pair<ValueId, FusedNodeId>, const PlannedCast*> m_castOf;
  std::map<ValueId, const PlannedCast*> m_castOfOutput;
  std::set<std::tuple<ValueId, SegmentId, const PlannedCast*>> m_known;
  std::vector<std::vector<SegmentBorder>> m_in, m_out;  ///< by SegmentId
};

}  // namespace

std::string_view name(SegmentBorder::Direction direction) {
  return direction == SegmentBorder::Direction::In ? "in" : "out";
}

std::vector<std::vector<SegmentBorder>> segmentBorders(const Plan& plan) {
  return BorderFinder(plan).run();
}

}  // namespace fusescope
