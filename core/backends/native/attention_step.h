#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/native/program.h"

namespace fusescope::native {

/// One change of a block of scores, by `number`, or where there is one by `operand`: scores · Multiply, scores + Add,
/// scores − Subtract, scores / Divide, number · tanh(scores / number) for SoftCap. Where*: where `condition` is true
/// (or false) the score becomes the other operand. To*: rounded to that narrow float. Operands have the rank of the
/// scores, with strides of 0 where they broadcast.
struct ScoreTerm {
  enum class Kind { Multiply, Add, Subtract, Divide, WhereTrue, WhereFalse, SoftCap, ToHalf, ToBrain } kind;
  std::optional<Ref> condition, operand;
  float number = 0;
};

/// result = softmax(terms(query · key)) · value, all of one rank, batches in front and of equal extents (a stride of 0
/// where an operand broadcasts). query [.., rows, depth] (contiguous in depth), key [.., depth, keys],
/// value [.., keys, width], result [.., rows, width] (contiguous in width). f32 or narrow floats, operands of terms
/// f32.
struct AttentionCall {
  Ref query, key, value, result;
  std::vector<ScoreTerm> terms;
  std::optional<float> guard;  ///< what is not a number after the softmax becomes this
  /// A float of 16 bits that the results of the softmax are rounded to before the second product; Undefined: they are
  /// not.
  DataType weights = DataType::Undefined;
};

/// The call at other extents of the region; nothing where it must be prepared anew.
using AttentionAt = std::function<std::optional<AttentionCall>(const RegionExtents&)>;

/// Works in blocks of rows: the scores of a block stay in the cache between the two products. `at`: empty if the call
/// is for its extents alone.
std::unique_ptr<Step> makeAttentionStep(AttentionCall call, int threads, AttentionAt at = {});

}  // namespace fusescope::native
