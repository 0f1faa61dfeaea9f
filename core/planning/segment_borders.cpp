#include "planning/segment_borders.h"

#include <map>
#include <set>
#include <tuple>

#include "analysis/cost.h"
#include "planning/read_back/read_back_plan.h"
#include "planning/structure.h"

namespace fusescope {

namespace {

class BorderFinder {
 public:
  explicit BorderFinder(const Cover& cover)
      : m_cover(cover),
        m_graph(cover.graph()),
        m_structure(*requestedPlan(cover).structure),
        m_segmentOf(m_graph.nodeIdLimit()),
        m_in(cover.segments.size()),
        m_out(cover.segments.size()) {
    for (const Segment& segment : cover.segments)
      for (const NodeId node : segment.nodes) m_segmentOf[node.index] = segment.id;
    for (const PlannedCast& cast : cover.casts) {
      for (const FusedNodeId consumer : cast.consumers) m_castOf[{cast.value, consumer}] = &cast;
      if (cast.consumers.empty()) m_castOfOutput[cast.value] = &cast;
    }
  }

  std::vector<std::vector<SegmentBorder>> run() {
    for (const FusedNode& reader : m_cover.fusedNodes)
      for (const ValueId value : reader.inputs) read(value, reader.segment, reader.id);
    for (const NodeId node : m_graph.order())
      if (m_cover.fusedNodeOf(node) == nullptr) readWithoutKernel(node);
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
    return producer.valid() ? m_segmentOf[producer.index] : SegmentId();
  }

  std::optional<std::int64_t> bytesAt(const ChosenExtents& extents, ValueId value, DataType type) const {
    return type == DataType::Undefined ? std::nullopt : bytesOfValue(extents, value, type);
  }

  SegmentBorder border(ValueId value, SegmentBorder::Direction direction, SegmentId other,
                       const PlannedCast* cast) const {
    const DataType type = m_cover.storedType(value);
    SegmentBorder border{.value = value,
                         .direction = direction,
                         .other = other,
                         .type = type,
                         .bytes = bytesAt(*m_structure.usual, value, type),
                         .range = {},
                         .conversion = cast};
    if (m_structure.least != nullptr)
      border.range = CostRange{.least = {.flops = {}, .bytes = bytesAt(*m_structure.least, value, type), .ms = {}},
                               .most = {.flops = {}, .bytes = bytesAt(*m_structure.most, value, type), .ms = {}}};
    return border;
  }

  void read(ValueId value, SegmentId by, FusedNodeId reader) {
    const SegmentId from = segmentOf(value);
    if (from == by || !by.valid()) return;
    const auto cast = m_castOf.find({value, reader});
    const PlannedCast* conversion = cast == m_castOf.end() ? nullptr : cast->second;
    if (!m_known.insert({value, by, conversion}).second) return;
    m_in[by.index].push_back(border(value, SegmentBorder::Direction::In, from, conversion));
    if (from.valid()) leave(from, value, by, conversion);
  }

  /// A node for which a compiler made no kernel is at a border as other nodes are.
  void readWithoutKernel(NodeId node) {
    for (const ValueId value : operands(m_graph.node(node)))
      if (value.valid() && !m_graph.isConstant(value)) read(value, m_segmentOf[node.index], FusedNodeId());
  }

  void leave(SegmentId from, ValueId value, SegmentId to, const PlannedCast* conversion) {
    m_out[from.index].push_back(border(value, SegmentBorder::Direction::Out, to, conversion));
  }

  const Cover& m_cover;
  const Graph& m_graph;
  const Structure& m_structure;
  std::vector<SegmentId> m_segmentOf;  ///< by NodeId
  std::map<std::pair<ValueId, FusedNodeId>, const PlannedCast*> m_castOf;
  std::map<ValueId, const PlannedCast*> m_castOfOutput;
  std::set<std::tuple<ValueId, SegmentId, const PlannedCast*>> m_known;
  std::vector<std::vector<SegmentBorder>> m_in, m_out;  ///< by SegmentId
};

}  // namespace

std::string_view name(SegmentBorder::Direction direction) {
  return direction == SegmentBorder::Direction::In ? "in" : "out";
}

std::vector<std::vector<SegmentBorder>> segmentBorders(const Cover& cover) {
  return BorderFinder(cover).run();
}

}  // namespace fusescope
