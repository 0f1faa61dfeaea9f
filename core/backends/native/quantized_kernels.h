#pragma once

#include "backends/native/quantized_chain.h"

namespace fusescope::native {

// The kernels that multiply codes. By oneDNN; they return whether it has one.
Result<bool> emitQuantizedConv(Context& context, const QuantizedChain& chain);
Result<bool> emitQuantizedMatrix(Context& context, const QuantizedChain& chain);  ///< by constant weights
Result<bool> emitProductOfCodes(Context& context, const QuantizedChain& chain);   ///< of two that are no constants

// By our own kernels; tapes scale the sums and do the rest.
/// Whether our own kernel can run the convolution.
bool canConvolveBytes(const Context& context, const Node& root);
Status emitOwnQuantized(Context& context, const QuantizedChain& chain);  ///< by constant weights
Status emitOwnProductOfCodes(Context& context, const QuantizedChain& chain);

}  // namespace fusescope::native
