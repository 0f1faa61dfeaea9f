#pragma once

#include <functional>
#include <map>

#include "backends/native/pointwise_step.h"
#include "backends/native/rechecked_step.h"

namespace fusescope::native {

/// What follows a convolution or product from its first activation on, as a tape: of the result, and of addends.
struct EpilogueTape {
  TapeProgram program;                    ///< without extents and operands
  std::uint16_t product = 0, result = 0;  ///< registers
  std::vector<std::pair<ValueId, std::uint16_t>> addends;
};

/// A convolution or product whose library calculates `tape` in its epilogue, element by element, and may lose there
/// what is not a number.
struct EpilogueCall {
  /// Makes the product alone, in f32, into the buffer of this index: its elements lie as in `target`.
  std::function<Result<std::unique_ptr<Step>>(BufferIndex)> product;
  EpilogueTape tape;
  std::map<ValueId, Ref> addends;  ///< lie as `target`
  Ref target;                      ///< f32, bf16 or f16, without gaps
  std::int64_t count = 0;          ///< of its elements, those that fill blocks included
  int threads = 1;
};

/// Puts what is not a finite number where it belongs in `target`; all else there stays as the library made it.
MakeExactStep exactEpilogue(EpilogueCall call);

}  // namespace fusescope::native
