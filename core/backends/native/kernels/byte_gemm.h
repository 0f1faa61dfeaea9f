#pragma once

#include <cstdint>

namespace fusescope::native {

// Products of 8-bit integers with exact 32-bit sums, which wrap. A [m, k] is signed, B [k, n] unsigned; other
// signedness is handled by inverting the highest bit and adding 128 to or subtracting it from the zero point. B is
// packed into panels of bytePanel() columns, each [k/4][panel][4] and padded with zeros; rows of A are padded with
// zeros too.

/// Returns the columns of a panel: a few vectors of this CPU.
std::int64_t bytePanel();
/// Returns `k` rounded up to a multiple of four.
std::int64_t byteDepth(std::int64_t k);
std::int64_t bytePanels(std::int64_t n);
/// Returns the bytes of the packed form of a [k, n] matrix.
std::int64_t packedBytes(std::int64_t k, std::int64_t n);
/// Packs `b`, whose element (i, j) is at b[i·rowStride + j·columnStride]. Each element is xor-ed with `turn`, which is
/// 0 or 0x80.
void packBytes(const std::uint8_t* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
               std::uint8_t turn, std::uint8_t* packed);
/// Computes the sum of each column of a packed matrix, for the columns of panels [firstPanel, firstPanel + panels).
/// `sums` has space for the columns of all panels.
void sumByteColumns(const std::uint8_t* packed, std::int64_t k, std::int64_t firstPanel, std::int64_t panels,
                    std::int32_t* sums);
/// Copies one row of A: `k` bytes of `from`, each xor-ed with `turn`, followed by padding. `from` and `to` may be the
/// same. Returns the sum of the row.
std::int32_t packByteRow(const std::uint8_t* from, std::int64_t k, std::uint8_t turn, std::int8_t* to);

/// Stores four rows of B in the order of a panel: to[4·i + j] = rows[j][i]. It reads up to 15 bytes beyond each row
/// and, if `room` has space for more groups than `count`, writes beyond the last one.
void interleaveBytes(const std::uint8_t* const (&rows)[4], std::int64_t count, std::int64_t room, std::uint8_t* to);

/// Calculates c = (a - rowZeros) · (b - columnZeros) for panels [firstPanel, firstPanel + panels) of b.
struct ByteGemmTask {
  const std::int8_t* a = nullptr;  ///< [m, byteDepth(k)]
  const std::uint8_t* packed = nullptr;
  std::int32_t* c = nullptr;  ///< [m, n], rows `ldc` apart, contiguous in n
  std::int64_t ldc = 0;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t firstPanel = 0, panels = 0;
  const std::int32_t* rowZeros = nullptr;     ///< [m]; null: zeros
  const std::int32_t* rowSums = nullptr;      ///< [m], the sums of the rows of a; needed if there are columnZeros
  const std::int32_t* columnZeros = nullptr;  ///< [columns of all panels]; null: zeros
  const std::int32_t* columnSums = nullptr;   ///< [columns of all panels], the sums of the columns of b; needed if
                                              ///< there are rowZeros
};
void runByteGemm(const ByteGemmTask& task);

/// A way in which this machine can multiply bytes. All ways give the same bits; the first one is what runByteGemm()
/// uses. For tests.
struct ByteGemmWay {
  const char* name;
  void (*run)(const ByteGemmTask& task);
};
ByteGemmWay byteGemmWay(int index);  ///< its name is null if `index` is too large

}  // namespace fusescope::native
