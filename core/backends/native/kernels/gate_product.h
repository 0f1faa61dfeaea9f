#pragma once

#include <memory>

#include "backends/native/kernels/byte_matrix.h"

namespace fusescope::native {

/// Multiplies rows by a constant matrix [inputs, gates] of a recurrent layer in packed memory.
class GateProduct {
 public:
  virtual ~GateProduct() = default;
  /// Calculates to [rows, gates] = from [rows, inputs] · this (+ bias). Rows of `to` are `stride` apart. `scratch` has
  /// scratchBytes(rows) bytes.
  virtual void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias,
                        int threads, Memory memory, std::byte* scratch) const = 0;
  virtual std::size_t scratchBytes(std::int64_t rows) const = 0;
};

/// `packed` is the buffer that gatePacking() made for this type.
std::unique_ptr<GateProduct> makeGateProduct(BufferIndex packed, DataType type, std::int64_t inputs,
                                             std::int64_t gates);
/// Packs the gates. Gate j is row j after element `offset` of `weight`, and rows have `inputs` elements. `type` can
/// represent all numbers of the weight.
Packing gatePacking(Weight weight, DataType type, std::int64_t offset, std::int64_t inputs, std::int64_t gates);

/// Makes a product with a matrix of bytes that has one scale, or one for each gate. The rows of a product are quantised
/// with their common range; sums are exact.
/// `scales` is f32, one for each gate.
std::unique_ptr<GateProduct> makeQuantizedGateProduct(ByteMatrix matrix, BufferIndex scales);

}  // namespace fusescope::native
