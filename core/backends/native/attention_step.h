#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/program.h"

namespace fusescope::native {

/// One change of a block of scores (SoftCap: number · tanh(score / number)); `mask` and `alternative` have the rank of
/// the scores, with strides of 0 where they broadcast. Where*: scores become `alternative`, or `number` if there is none.
struct ScoreTerm {
  enum class Kind { Scale, Mask, WhereTrue, WhereFalse, SoftCap } kind;
  std::optional<Ref> mask, alternative;
  float number = 0;
};

/// result = softmax(terms(query · key)) · value, all of one rank, batches in front and of equal extents (a stride of 0
/// where an operand broadcasts). query [.., rows, depth] (contiguous in depth), key [.., depth, keys],
/// value [.., keys, width], result [.., rows, width] (contiguous in width). f32.
struct AttentionCall {
  Ref query, key, value, result;
  std::vector<ScoreTerm> terms;
  std::optional<float> guard;  ///< what is not a number after the softmax becomes this
};

/// Works in blocks of rows: the scores of a block stay in the cache between the two products.
std::unique_ptr<Step> makeAttentionStep(AttentionCall call, int threads);

}  // namespace fusescope::native
