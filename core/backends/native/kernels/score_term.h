#pragma once

#include <optional>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// A change of a block of scores, by `operand` if there is one and otherwise by `number`: scores · Multiply, scores +
/// Add, scores − Subtract, scores / Divide, number · tanh(scores / number) for SoftCap. WhereTrue and WhereFalse
/// replace the score by the operand where `condition` is true or false. ToHalf and ToBrain round to that narrow float.
/// Operands have the rank of the scores, with strides of 0 where they are broadcast.
struct ScoreTerm {
  enum class Kind { Multiply, Add, Subtract, Divide, WhereTrue, WhereFalse, SoftCap, ToHalf, ToBrain } kind;
  std::optional<Ref> condition, operand;
  float number = 0;
};

}  // namespace fusescope::native
