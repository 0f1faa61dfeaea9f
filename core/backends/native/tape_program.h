#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/native/kernels/tape.h"
#include "backends/native/region_program.h"

namespace fusescope::native {

/// An operand of a tape, and how its elements are found for a part of the domain (the elements in memory order).
struct TapeOperand {
  Ref ref;       ///< f32, bf16, f16, bool, the int8 or uint8 of a quantised edge, or int32
  Dims strides;  ///< one per axis of the domain in memory order, in elements
  std::uint16_t reg = 0;
};

/// A tape and the domain of elements that it runs over.
struct TapeProgram {
  Dims extents;  ///< extents of the domain in memory order
  std::vector<TapeOperand> inputs;
  std::vector<TapeOperand> outputs;                      ///< dense over the domain
  std::vector<std::pair<std::uint16_t, float>> numbers;  ///< registers with a constant number
  std::vector<TapeInstruction> code;
  std::uint16_t registers = 0;
};

}  // namespace fusescope::native
