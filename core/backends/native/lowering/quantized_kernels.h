#pragma once

#include "backends/native/lowering/quantized_chain.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Emits a convolution of codes. Returns whether oneDNN has a kernel for it.
Result<bool> emitQuantizedConv(Context& context, const QuantizedChain& chain);
/// Emits a product of codes with constant weights. Returns whether oneDNN has a kernel for it.
Result<bool> emitQuantizedMatrix(Context& context, const QuantizedChain& chain);
/// Emits a product of two operands that are codes and not constant. Returns whether oneDNN has a kernel for it.
Result<bool> emitProductOfCodes(Context& context, const QuantizedChain& chain);

// The following functions are about our own kernels, which calculate the sums; tapes scale them and do the rest.
/// Returns whether our own kernel can run the convolution.
bool canConvolveBytes(const Context& context, const Node& root);
/// Emits a convolution or product of codes with constant weights.
Status emitOwnQuantized(Context& context, const QuantizedChain& chain);
/// Emits a product of two operands that are codes and not constant.
Status emitOwnProductOfCodes(Context& context, const QuantizedChain& chain);

}  // namespace fusescope::native
