#pragma once

#include "backends/native/lowering/quantized_chain.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

// These emit kernels of oneDNN that multiply codes. They return whether oneDNN has such a kernel.
Result<bool> emitQuantizedConv(Context& context, const QuantizedChain& chain);
Result<bool> emitQuantizedMatrix(Context& context, const QuantizedChain& chain);  ///< with constant weights
Result<bool> emitProductOfCodes(Context& context, const QuantizedChain& chain);   ///< of two operands that are not
                                                                                  ///< constant

// These emit our own kernels, which calculate the sums; tapes scale them and do the rest.
/// Returns whether our own kernel can run the convolution.
bool canConvolveBytes(const Context& context, const Node& root);
Status emitOwnQuantized(Context& context, const QuantizedChain& chain);  ///< with constant weights
Status emitOwnProductOfCodes(Context& context, const QuantizedChain& chain);

}  // namespace fusescope::native
