#pragma once

#include <functional>
#include <map>

#include "backends/native/steps/pointwise_step.h"
#include "backends/native/steps/rechecked_step.h"

namespace fusescope::native {

/// The operations after a convolution or product, from its first activation on, as a tape over the result and the
/// addends.
struct EpilogueTape {
  TapeProgram program;                    ///< without extents and operands
  std::uint16_t product = 0, result = 0;  ///< registers
  std::vector<std::pair<ValueId, std::uint16_t>> addends;
};

/// A convolution or product whose library calculates `tape` in its epilogue, element by element, and may lose NaN
/// there.
struct EpilogueCall {
  /// Makes a step that writes only the product, in f32, into the buffer of this index, in the layout of `target`.
  std::function<Result<std::unique_ptr<Step>>(BufferIndex)> product;
  EpilogueTape tape;
  std::map<ValueId, Ref> addends;  ///< in the layout of `target`
  Ref target;                      ///< f32, bf16 or f16, without gaps
  std::int64_t count = 0;          ///< elements, including those that pad blocks
  int threads = 1;
};

/// Replaces elements of `target` that should not be finite; all others stay as the library calculated them.
MakeExactStep exactEpilogue(EpilogueCall call);

}  // namespace fusescope::native
