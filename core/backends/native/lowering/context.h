#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/native/lowering/choice.h"
#include "backends/native/lowering/region_places.h"
#include "backends/native/lowering/tape_builder.h"

namespace fusescope::native {

/// The sums of a product of codes, the scale that each is multiplied by, and the bias that is then added.
struct ScaledSums {
  Ref sums, scale;
  std::optional<Ref> bias;
};

/// What all emitters share while a fused node is lowered: facts about it, where its values are stored, which pointwise
/// nodes still wait to become tapes, and which kernels were chosen. What only one emitter needs is in the units that it
/// adds (emitter.h).
class Context : public RegionPlaces {
 public:
  using RegionPlaces::RegionPlaces;

  // Pointwise nodes wait until one of their results is needed, so that one tape runs several of them.
  void queue(NodeId node) { m_waiting.push_back(node); }
  void queue(std::span<const NodeId> nodes) { m_waiting.insert(m_waiting.end(), nodes.begin(), nodes.end()); }
  /// Queues the scaling of a product of codes whose sums are already calculated.
  void queue(NodeId root, ScaledSums sums);
  /// Emits all waiting nodes.
  Status flush();
  /// Emits all waiting nodes if one of them makes one of the values.
  Status flushFor(const std::vector<ValueId>& values);
  /// Emits these nodes, which need not be waiting, as one tape. They must be pointwise and have results of the same
  /// extents.
  Status emitTape(const std::vector<NodeId>& nodes);

  /// Records a chosen kernel when it is added.
  void chose(Choice choice) { m_choices.push_back(std::move(choice)); }
  const std::vector<Choice>& choices() const { return m_choices; }
  std::unique_ptr<const Code> finish() { return program().finish(embedded()); }

 private:
  Result<Ref> tapeInput(const TapeBuilder::Input& input);
  bool isMissing(ValueId value) const;
  /// Returns whether a node outside of `group` reads the value, or it is an output of the fused node, or nobody reads
  /// it.
  bool leaves(ValueId value, const std::set<NodeId>& group) const;
  TapeBuilder builderOf(const std::vector<NodeId>& nodes) const;

  std::vector<NodeId> m_waiting;
  std::map<NodeId, ScaledSums> m_sums;  ///< of products whose scaling is queued
  std::vector<Choice> m_choices;
};

}  // namespace fusescope::native
