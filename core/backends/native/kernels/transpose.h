#pragma once

#include <cstdint>

namespace fusescope::native {

/// Sets to[j·toStride + i] = from[i·fromStride + j] for i < rows and j < columns. It moves words of 32 bits of any
/// type.
void transpose(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
               std::int64_t columns);
/// The same for bytes.
void transpose(const std::uint8_t* from, std::int64_t fromStride, std::uint8_t* to, std::int64_t toStride,
               std::int64_t rows, std::int64_t columns);
/// The same for words of 16 bits.
void transpose(const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to, std::int64_t toStride,
               std::int64_t rows, std::int64_t columns);

}  // namespace fusescope::native
