#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/native/choice.h"
#include "backends/native/region_places.h"
#include "backends/native/tape_builder.h"

namespace fusescope::native {

/// Sums of products of codes, what each is multiplied by, and what is added then.
struct ScaledSums {
  Ref sums, scale;
  std::optional<Ref> bias;
};

/// What all emitters share while a fused node is lowered: what is known of it, where its values lie, which pointwise
/// nodes still wait to become tapes, and which kernels were chosen. What one emitter alone needs is not here, but in the
/// units that it adds (emitter.h).
class Context : public RegionPlaces {
 public:
  using RegionPlaces::RegionPlaces;

  // Pointwise nodes wait until somebody needs what they make, so that one tape runs several.
  void queue(NodeId node) { m_waiting.push_back(node); }
  void queue(std::span<const NodeId> nodes) { m_waiting.insert(m_waiting.end(), nodes.begin(), nodes.end()); }
  /// The same for a product of codes whose sums were made: the tape only scales them.
  void queue(NodeId root, ScaledSums sums);
  /// Runs all that waits.
  Status flush();
  /// The same if one of the values is made by a node that waits.
  Status flushFor(const std::vector<ValueId>& values);
  /// Runs these nodes, which need not wait, as one tape. They are pointwise and have results of the same extents.
  Status emitTape(const std::vector<NodeId>& nodes);

  /// Notes a kernel, as it is added.
  void chose(Choice choice) { m_choices.push_back(std::move(choice)); }
  const std::vector<Choice>& choices() const { return m_choices; }
  std::unique_ptr<const Code> finish() { return program().finish(embedded()); }

 private:
  Result<Ref> tapeInput(const TapeBuilder::Input& input);
  bool isMissing(ValueId value) const;
  /// Whether a node outside of `group` reads the value, or the fused node gives it, or nobody reads it.
  bool leaves(ValueId value, const std::set<NodeId>& group) const;
  TapeBuilder builderOf(const std::vector<NodeId>& nodes) const;

  std::vector<NodeId> m_waiting;
  std::map<NodeId, ScaledSums> m_sums;  ///< of products that wait
  std::vector<Choice> m_choices;
};

}  // namespace fusescope::native
