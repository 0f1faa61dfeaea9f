#pragma once

#include <vector>

#include "planning/identities.h"
#include "planning/types/typing.h"

namespace fusescope {

class Graph;

/// Makes fused nodes of regions: inputs, outputs, inner edges, the contract, flops and bytes. It reads `typing` at the
/// time of each call. Not thread-safe.
class RegionDescriber {
 public:
  RegionDescriber(const Model& model, const Structure& structure, const Typing& typing);
  /// Returns the fused node without id and name, which only fused nodes of a plan have.
  FusedNode describe(const Region& region);
  std::string nameOf(const Region& region) const;  ///< the names of its nodes, joined by " + "

 private:
  bool inside(NodeId node) const { return m_inside[node.index] == m_mark; }
  bool leaves(ValueId value) const;
  bool usedInside(ValueId value) const;
  bool accelerated(const FusedNode& fused) const { return m_structure.accelerated[fused.root.index] != 0; }
  void setTypes(const Region& region, FusedNode& fused) const;
  void setValues(FusedNode& fused) const;
  void placeOutput(FusedNode& fused, ValueId value) const;
  DataType heldAt(ValueId value, DataType stored) const;
  void narrowProbabilities(FusedNode& fused) const;
  void collectReads(ValueId value, std::vector<DataType>& types) const;
  DataType readTypeOf(const FusedNode& fused, ValueId value) const;
  void setCosts(FusedNode& fused) const;
  bool collectParts(ValueId value, std::vector<ValueId>& parts) const;
  CostAt costsAt(const ChosenExtents& extents, const FusedNode& fused) const;
  std::optional<std::int64_t> bytesRead(const ChosenExtents& extents, ValueId value, DataType type) const;

  const Graph& m_graph;
  const Structure& m_structure;
  const Typing& m_typing;
  std::vector<std::uint32_t> m_inside;  ///< by NodeId: m_mark if the node is in the current region
  std::uint32_t m_mark = 0;
  Identities m_identities;
};

}  // namespace fusescope
