#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "backends/native/attention_step.h"
#include "backends/native/region_facts.h"

namespace fusescope::native {

/// softmax(query · key, changed by `terms`) · value, as the bindings of a fused node say it.
struct AttentionPattern {
  /// One change of the scores, in order: as ScoreTerm, by `number` where there is no operand.
  struct Term {
    ScoreTerm::Kind kind;
    ValueId condition, operand;
    float number = 0;
    ValueId scores;  ///< that it leaves: as it sees them, their batches may be split into more axes
  };
  std::set<NodeId> nodes;
  NodeId last;
  std::map<NodeId, ValueId> scales;  ///< nodes before the first product that only scale, and what: in `terms`
  ValueId query, key, value;         ///< operands of the products; `key` is read as [.., depth, keys]
  std::vector<Term> terms;
  std::optional<float> guard;              ///< what probabilities that are not a number become
  DataType weights = DataType::Undefined;  ///< as AttentionCall::weights
  ValueId scores, result;
};

/// Whether the plan says what is what in an attention of several nodes.
bool bindsAttention(const FusedNode& fused);

/// The attention that the fused node is, as its bindings say it; nothing if there is none, or one that the kernel
/// cannot take: operands of terms that are themselves calculated from the scores, products without elements, batches
/// that are no views of one another.
std::optional<AttentionPattern> boundAttention(RegionFacts& region);

}  // namespace fusescope::native
