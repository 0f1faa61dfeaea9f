#pragma once

#include <cstdint>
#include <optional>

#include "backends/native/kernels/byte_gemm.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/region_program.h"
#include "backends/native/weight.h"
#include "base/data_type.h"

namespace fusescope::native {

/// The xor between codes of signed and of unsigned bytes with the same order.
inline constexpr std::uint8_t kSignFlip = 0x80;

/// Return what codes of `type` are xor-ed with to be rows of A, which are signed, or columns of B, which are unsigned.
inline std::uint8_t signFlipOfA(DataType type) {
  return type == DataType::I8 ? 0 : kSignFlip;
}
inline std::uint8_t signFlipOfB(DataType type) {
  return type == DataType::I8 ? kSignFlip : 0;
}
/// Return the zero point for the xor-ed codes.
inline std::int32_t zeroOfA(std::int32_t zero, DataType type) {
  return zero - signFlipOfA(type);
}
inline std::int32_t zeroOfB(std::int32_t zero, DataType type) {
  return zero + signFlipOfB(type);
}

/// Returns whether each of `numbers` equals `number`.
bool areAll(const Tensor& numbers, double number);

/// Rows of A in the form that products read.
struct ByteRows {
  const std::int8_t* codes = nullptr;   ///< [m, byteDepth(k)]
  const std::int32_t* zeros = nullptr;  ///< [m]
  const std::int32_t* sums = nullptr;   ///< [m]
  std::int64_t m = 0;
};
/// The layout of ByteRows in memory that the caller provides, aligned for int32.
struct ByteRowsBuffer {
  std::int32_t *zeros = nullptr, *sums = nullptr;
  std::int8_t* codes = nullptr;
  static std::size_t bytes(std::int64_t m, std::int64_t k) {
    return static_cast<std::size_t>(m) * (2 * sizeof(std::int32_t) + static_cast<std::size_t>(byteDepth(k)));
  }
  static ByteRowsBuffer at(std::byte* memory, std::int64_t m) {
    auto* zeros = reinterpret_cast<std::int32_t*>(memory);
    return {zeros, zeros + m, reinterpret_cast<std::int8_t*>(zeros + 2 * m)};
  }
  ByteRows rows(std::int64_t m) const { return {codes, zeros, sums, m}; }
  /// Fills the buffer from the codes of `m` rows of length `k` and type `type`, and their zero point.
  void take(const std::uint8_t* from, std::int64_t m, std::int64_t k, std::int32_t zero, DataType type) const;
};

/// The layout of a packed matrix [k, n] in memory that the caller provides, aligned to a cache line: its panels, then
/// the sums and the zero points of its columns.
struct PackedBytes {
  std::uint8_t* panels = nullptr;
  std::int32_t *sums = nullptr, *zeros = nullptr;
  static std::size_t columns(std::int64_t n) { return static_cast<std::size_t>(bytePanels(n) * bytePanel()); }
  static std::size_t bytes(std::int64_t k, std::int64_t n);
  static PackedBytes at(std::byte* memory, std::int64_t k, std::int64_t n);
  /// Packs row-major codes of `type`; the caller writes the zero points.
  void take(const std::uint8_t* from, std::int64_t k, std::int64_t n, DataType type) const;
  /// Calculates rows · this [k, n] for the columns of panels [first, first + panels). Rows of c are `stride` apart.
  void multiply(const ByteRows& rows, std::int64_t k, std::int64_t n, std::int32_t* c, std::int64_t stride,
                std::int64_t first, std::int64_t panels) const;
};

/// A constant matrix [k, n] of int8 or uint8 with its zero points (one for all, or one for each column) in packed
/// memory (PackedBytes).
class ByteMatrix {
 public:
  ByteMatrix(std::int64_t k, std::int64_t n, BufferIndex packed) : m_k(k), m_n(n), m_packed(packed) {}
  /// Packs matrix `index` of `codes` [.., k, n]. `zeros` [index, ..], if there are any, has the zero points of each
  /// matrix.
  static Packing packing(Weight codes, std::optional<Weight> zeros, std::int64_t k, std::int64_t n,
                         std::int64_t index = 0);

  /// Calculates rows · this for the columns of panels [first, first + panels). Rows of c are `stride` apart.
  void multiply(const ByteRows& rows, std::int32_t* c, std::int64_t stride, std::int64_t first, std::int64_t panels,
                Memory memory) const;
  std::int64_t k() const { return m_k; }
  std::int64_t n() const { return m_n; }
  std::int64_t panels() const { return bytePanels(m_n); }

 private:
  std::int64_t m_k, m_n;
  BufferIndex m_packed;
};

/// Calls `run(first panel, panels)` for parts of `panels` whose products need `work` multiply-adds in total. It uses
/// several threads if that is faster.
template <class Run>
void sharePanels(std::int64_t panels, std::int64_t work, int threads, const Run& run) {
  constexpr std::int64_t kParallelProduct = 256 * 1024;
  const auto parts = static_cast<int>(work < kParallelProduct ? 1
                                      : panels < threads      ? panels
                                                              : static_cast<std::int64_t>(threads));
  if (parts <= 1) return run(std::int64_t{0}, panels);
  constexpr std::int64_t kLeastPanels = 4;  // each call reads all rows
  forEachPiece(Claims(panels, parts, kLeastPanels), parts,
               [&](std::int64_t begin, std::int64_t end, int) { run(begin, end - begin); });
}

}  // namespace fusescope::native
