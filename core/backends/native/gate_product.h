#pragma once

#include <memory>

#include "backends/native/byte_matrix.h"

namespace fusescope::native {

/// Rows times one constant matrix [inputs, gates] of a recurrent layer, in packed memory.
class GateProduct {
 public:
  virtual ~GateProduct() = default;
  /// to [rows, gates] = from [rows, inputs] · this (+ bias), rows of `to` `stride` apart. `scratch` is as large as
  /// scratchBytes() says of so many rows.
  virtual void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias,
                        int threads, Memory memory, std::byte* scratch) const = 0;
  virtual std::size_t scratchBytes(std::int64_t rows) const = 0;
};

/// `packed`: the buffer of gatePacking() for this type.
std::unique_ptr<GateProduct> makeGateProduct(BufferIndex packed, DataType type, std::int64_t inputs,
                                             std::int64_t gates);
/// Gate j is row j behind element `offset` of `weight`, which `type` can hold; rows are `inputs` long.
Packing gatePacking(Weight weight, DataType type, std::int64_t offset, std::int64_t inputs, std::int64_t gates);

/// A matrix of bytes with one scale, or one for each gate. The rows of a product are quantised by the range that they
/// have together; sums are exact.
/// `scales`: f32, by gate.
std::unique_ptr<GateProduct> makeQuantizedGateProduct(ByteMatrix matrix, BufferIndex scales);

}  // namespace fusescope::native
