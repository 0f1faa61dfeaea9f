#pragma once

#include "backends/native/lowering/context.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// The operands of a product of bytes, and facts about them. The second operand is either weights, which are packed
/// once, or codes in memory (`right`).
struct ByteOperands {
  std::optional<Weight> weights;
  std::optional<Weight> weightZeros;
  bool turnedZerosAreZero = true;  ///< whether the zero points of the weights are 0 after the codes are xor-ed
                                   ///< (byte_matrix.h)
  Ref from, right;
  std::optional<Ref> zero, rightZeros;
  std::vector<BufferIndex> reads;
};

// These add a step of our own kernels that computes `sums`, of int32.
void emitByteProduct(Context& context, const ByteOperands& operands, const Ref& sums);
/// Adds a product of two matrices that are both calculated while the network runs.
void emitByteBatch(Context& context, const ByteOperands& operands, const Ref& sums);
/// Adds a convolution; `conv` gives its window and groups.
void emitByteConv(Context& context, const Node& conv, const ByteOperands& operands, const Ref& sums);

}  // namespace fusescope::native
