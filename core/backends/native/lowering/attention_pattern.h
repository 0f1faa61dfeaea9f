#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "backends/native/lowering/region_facts.h"
#include "backends/native/steps/attention_step.h"

namespace fusescope::native {

/// An attention as the bindings of a fused node describe it: softmax(query · key, changed by `terms`) · value.
struct AttentionPattern {
  /// One change of the scores, as ScoreTerm; terms are applied in order. Without an operand, `number` is used.
  struct Term {
    ScoreTerm::Kind kind;
    ValueId condition, operand;
    float number = 0;
    ValueId scores;  ///< the scores after this term, whose batches may be split into more axes
  };
  std::set<NodeId> nodes;
  NodeId last;
  /// Nodes before the first product that only scale, and the value that each scales; their product is the first of
  /// `terms`.
  std::map<NodeId, ValueId> scales;
  ValueId query, key, value;  ///< operands of the products; `key` is read as [.., depth, keys]
  std::vector<Term> terms;
  std::optional<float> guard;              ///< the number that replaces NaN among the probabilities
  DataType weights = DataType::Undefined;  ///< as AttentionCall::weights
  ValueId scores, result;
};

/// Returns whether the bindings of the plan describe an attention that consists of several nodes.
bool bindsAttention(const FusedNode& fused);

/// Returns the attention that the bindings of the fused node describe. Returns nothing if there is none, or if the
/// kernel cannot run it: operands of terms are calculated from the scores, products have no elements, or the batches of
/// one operand are no view of those of another.
std::optional<AttentionPattern> boundAttention(RegionFacts& region);

}  // namespace fusescope::native
