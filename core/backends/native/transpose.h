#pragma once

#include <cstdint>

namespace fusescope::native {

/// to[j·toStride + i] = from[i·fromStride + j] for i < rows and j < columns: words of 32 bits, whatever they stand for.
void transpose(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
               std::int64_t columns);
/// The same of bytes.
void transpose(const std::uint8_t* from, std::int64_t fromStride, std::uint8_t* to, std::int64_t toStride,
               std::int64_t rows, std::int64_t columns);
/// The same of words of 16 bits.
void transpose(const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to, std::int64_t toStride,
               std::int64_t rows, std::int64_t columns);

}  // namespace fusescope::native
