#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/program.h"

namespace fusescope::native {

/// One change of a block of scores (SoftCap: number · tanh(score / number)); `mask` has the rank of the scores, with
/// strides of 0 where it broadcasts.
struct ScoreTerm {
  enum class Kind { Scale, Mask, WhereTrue, WhereFalse, SoftCap } kind;
  std::optional<Ref> mask;
  float number = 0;
};

/// result = softmax(terms(query · key)) · value, all of one rank, batches in front and of equal extents (a stride of 0
/// where an operand broadcasts). query [.., rows, depth] (contiguous in depth), key [.., depth, keys],
/// value [.., keys, width], result [.., rows, width] (contiguous in width). f32.
struct AttentionCall {
  Ref query, key, value, result;
  std::vector<ScoreTerm> terms;
  bool nanGuard = false;  ///< what is not a number after the softmax becomes 0
};

/// Works in blocks of rows: the scores of a block stay in the cache between the two products.
std::unique_ptr<Step> makeAttentionStep(AttentionCall call, int threads);

}  // namespace fusescope::native
