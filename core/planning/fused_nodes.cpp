#include <algorithm>

#include "analysis/cost.h"
#include "analysis/users.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

/// What a fused node sees of one step of the planner and the next, gathered for its description.
class FusedNodeWriter {
 public:
  FusedNodeWriter(const Model& model, const Partitioning& partition, const Truncation& truncation,
                  const PrecisionMap& precision)
      : m_graph(*model.graph), m_partition(partition), m_truncation(truncation), m_precision(precision) {}

  FusedNode write(const FusionGroup& group, FusedNodeId id) {
    FusedNode fused;
    fused.id = id;
    fused.kind = group.kind;
    fused.root = group.root;
    fused.nodes = group.nodes;
    fused.segment = m_partition.segmentOf[group.root.index];
    for (NodeId node : group.nodes) {
      fused.name += (fused.name.empty() ? "" : " + ") + m_graph.node(node).name;
      const auto& origins = m_graph.node(node).origins;
      fused.origins.insert(fused.origins.end(), origins.begin(), origins.end());
    }
    std::sort(fused.origins.begin(), fused.origins.end());
    fused.origins.erase(std::unique(fused.origins.begin(), fused.origins.end()), fused.origins.end());
    setTypes(fused);
    setValues(fused);
    setCosts(fused);
    return fused;
  }

 private:
  bool accelerated(const FusedNode& fused) const {
    return m_partition.segments[fused.segment.index].kind == SegmentKind::Accelerated;
  }

  bool inside(const FusedNode& fused, NodeId node) const {
    return std::find(fused.nodes.begin(), fused.nodes.end(), node) != fused.nodes.end();
  }

  /// Floats accumulate in f32, or wider where they are wider; integers in their own type.
  static DataType accumulateType(DataType compute) {
    return isFloat(compute) && compute != DataType::F64 ? DataType::F32 : compute;
  }

  void setTypes(FusedNode& fused) const {
    fused.compute = m_precision.compute[fused.root.index];
    for (NodeId node : fused.nodes) {
      if (m_precision.isFloat[node.index]) fused.compute = m_precision.compute[node.index];
    }
    fused.accumulate = accumulateType(fused.compute);
  }

  /// The type at which `value`, produced by `node`, stands in memory.
  DataType memoryType(const FusedNode& fused, NodeId node, ValueId value) const {
    const DataType own = m_graph.value(value).type.dtype;
    if (!accelerated(fused)) return own;
    const DataType type = m_truncation.types[value.index];
    const bool exchangeable = type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
    if (!exchangeable) return type;
    if (m_precision.outputType[value.index] != DataType::Undefined) return m_precision.outputType[value.index];
    return m_precision.isFloat[node.index] ? m_precision.compute[node.index] : type;
  }

  void setValues(FusedNode& fused) const {
    for (NodeId node : fused.nodes) {
      for (ValueId value : valuesRead(m_graph.node(node))) {
        const Value& read = m_graph.value(value);
        const bool outside = !read.producer.valid() || !inside(fused, read.producer);
        const bool known = std::find(fused.inputs.begin(), fused.inputs.end(), value) != fused.inputs.end();
        if (outside && !known && read.constant == nullptr) fused.inputs.push_back(value);
      }
      for (ValueId value : m_graph.node(node).outputs) {
        if (value.valid()) placeOutput(fused, node, value);
      }
    }
  }

  void placeOutput(FusedNode& fused, NodeId node, ValueId value) const {
    const auto& consumers = m_graph.value(value).consumers;
    const bool usedInside =
        std::any_of(consumers.begin(), consumers.end(), [&](NodeId user) { return inside(fused, user); });
    const bool usedOutside =
        m_graph.isOutput(value) || consumers.empty() ||
        std::any_of(consumers.begin(), consumers.end(), [&](NodeId user) { return !inside(fused, user); });
    const DataType type = memoryType(fused, node, value);
    if (usedOutside) fused.outputs.push_back({value, type});
    if (usedInside) {
      const bool isFloatValue = isFloat(type);
      fused.innerEdges.push_back({value, usedOutside, usedOutside || !isFloatValue ? type : fused.accumulate});
    }
  }

  void setCosts(FusedNode& fused) const {
    std::int64_t flops = 0;
    std::int64_t bytes = 0;
    bool flopsKnown = true;
    bool bytesKnown = true;
    const auto addBytes = [&](ValueId value, DataType type) {
      const auto size = bytesOfValue(m_graph, value, type);
      bytesKnown = bytesKnown && size.has_value();
      bytes += size.value_or(0);
    };
    std::vector<ValueId> constants;
    for (NodeId node : fused.nodes) {
      const auto own = flopsOfNode(m_graph, m_graph.node(node));
      flopsKnown = flopsKnown && own.has_value();
      flops += own.value_or(0);
      for (ValueId value : valuesRead(m_graph.node(node))) {
        if (!m_graph.isConstant(value)) continue;
        if (std::find(constants.begin(), constants.end(), value) == constants.end()) constants.push_back(value);
      }
    }
    for (ValueId value : fused.inputs) addBytes(value, operandStorage(fused, value));
    for (ValueId value : constants) addBytes(value, operandStorage(fused, value));
    for (const FusedOutput& output : fused.outputs) addBytes(output.value, output.type);
    if (flopsKnown) fused.flops = flops;
    if (bytesKnown) fused.bytes = bytes;
  }

  /// The type at which a fused node reads `value`: its compute type for floats that precision may exchange.
  DataType operandStorage(const FusedNode& fused, ValueId value) const {
    if (!accelerated(fused)) return m_graph.value(value).type.dtype;
    const DataType type = m_truncation.types[value.index];
    const bool exchangeable = type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
    return exchangeable && isFloat(fused.compute) ? fused.compute : type;
  }

  const Graph& m_graph;
  const Partitioning& m_partition;
  const Truncation& m_truncation;
  const PrecisionMap& m_precision;
};

}  // namespace

std::vector<FusedNode> describeFusedNodes(const Model& model, const Partitioning& partition,
                                          const Truncation& truncation, const PrecisionMap& precision,
                                          const Fusion& fusion) {
  FusedNodeWriter writer(model, partition, truncation, precision);
  std::vector<FusedNode> fusedNodes;
  fusedNodes.reserve(fusion.groups.size());
  for (const FusionGroup& group : fusion.groups) {
    fusedNodes.push_back(writer.write(group, FusedNodeId(fusedNodes.size())));
  }
  return fusedNodes;
}

}  // namespace fusescope
