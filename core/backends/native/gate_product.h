#pragma once

#include <memory>
#include <span>

#include "backends/native/byte_matrix.h"
#include "ir/tensor.h"

namespace fusescope::native {

/// Rows times one constant matrix [inputs, gates] of a recurrent layer, packed once.
class GateProduct {
 public:
  virtual ~GateProduct() = default;
  /// to [rows, gates] = from [rows, inputs] · this (+ bias), rows of `to` `stride` apart. `scratch` is as large as
  /// scratchBytes() says of so many rows.
  virtual void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias,
                        int threads, std::byte* scratch) const = 0;
  virtual std::size_t scratchBytes(std::int64_t rows) const = 0;
  virtual std::size_t bytes() const = 0;
};

/// Gate j is row j of `from`, whose rows are `inputs` long.
std::unique_ptr<GateProduct> makeGateProduct(const float* from, std::int64_t inputs, std::int64_t gates);

/// A matrix of bytes with one scale, or one for each gate. The rows of a product are quantised by the range that they
/// have together; sums are exact.
std::unique_ptr<GateProduct> makeQuantizedGateProduct(ByteMatrix matrix, std::span<const float> scales);

}  // namespace fusescope::native
