#pragma once

#include "backends/native/context.h"

namespace fusescope::native {

/// Operands of a product of bytes, and what is known of them. The second one is either weights, which
/// are packed once, or codes that lie in memory (`right`).
struct ByteOperands {
  std::optional<Weight> weights;
  std::optional<Weight> weightZeros;
  bool turnedZerosAreZero = true;  ///< those of the weights, once the codes are turned (byte_matrix.h)
  Ref from, right;
  std::optional<Ref> zero, rightZeros;
  std::vector<BufferIndex> reads;
};

// Each adds a step of our own kernels that makes `sums`, of int32.
void emitByteProduct(Context& context, const ByteOperands& operands, const Ref& sums);
/// Products of matrices that are both made while the network runs.
void emitByteBatch(Context& context, const ByteOperands& operands, const Ref& sums);
/// `conv` says its window and its groups.
void emitByteConv(Context& context, const Node& conv, const ByteOperands& operands, const Ref& sums);

}  // namespace fusescope::native
