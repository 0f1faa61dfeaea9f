#pragma once

#include <cstdint>

namespace fusescope::native {

// Products of 8-bit integers with exact sums of 32 bits (which wrap). A [m, k] is signed, B [k, n] unsigned; the other
// signedness is the same bits with the highest turned over, the zero point moved by 128. B is packed into panels of
// bytePanel() columns, each [k/4][panel][4] and padded with zeros; rows of A are padded with zeros likewise.

/// Columns of a panel: a few vectors of this CPU.
std::int64_t bytePanel();
/// `k` rounded up to whole groups of four.
std::int64_t byteDepth(std::int64_t k);
std::int64_t bytePanels(std::int64_t n);
/// Bytes that the packed form of a [k, n] matrix takes.
std::int64_t packedBytes(std::int64_t k, std::int64_t n);
/// Packs `b`, whose element (i, j) is at b[i·rowStride + j·columnStride]; `turn` is xor-ed to each: 0, or 0x80.
void packBytes(const std::uint8_t* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
               std::uint8_t turn, std::uint8_t* packed);
/// The sum of each column of a packed matrix, for columns of panels [firstPanel, firstPanel + panels). `sums` is as
/// long as all panels are wide.
void sumByteColumns(const std::uint8_t* packed, std::int64_t k, std::int64_t firstPanel, std::int64_t panels,
                    std::int32_t* sums);
/// One row of A: `k` bytes of `from`, each xor-ed with `turn`, padded; in place where both are the same. Returns their
/// sum.
std::int32_t takeByteRow(const std::uint8_t* from, std::int64_t k, std::uint8_t turn, std::int8_t* to);

/// to[4·i + j] = rows[j][i]: how four rows of B stand in a panel. Reads up to 15 bytes behind each row and, where
/// `room` says that there are as many groups, writes behind the last.
void interleaveBytes(const std::uint8_t* const (&rows)[4], std::int64_t count, std::int64_t room, std::uint8_t* to);

/// c = (a - rowZeros) · (b - columnZeros), for panels [firstPanel, firstPanel + panels) of b.
struct ByteGemmTask {
  const std::int8_t* a = nullptr;  ///< [m, byteDepth(k)]
  const std::uint8_t* packed = nullptr;
  std::int32_t* c = nullptr;  ///< [m, n], rows `ldc` apart, contiguous in n
  std::int64_t ldc = 0;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t firstPanel = 0, panels = 0;
  const std::int32_t* rowZeros = nullptr;     ///< [m]; null: zeros
  const std::int32_t* rowSums = nullptr;      ///< [m], of a; needed with columnZeros
  const std::int32_t* columnZeros = nullptr;  ///< [panels wide]; null: zeros
  const std::int32_t* columnSums = nullptr;   ///< [panels wide], of b; needed with rowZeros
};
void runByteGemm(const ByteGemmTask& task);

/// The ways that this machine has to multiply, by name, the one that runByteGemm() takes first; they agree in every
/// bit. For tests.
struct ByteGemmWay {
  const char* name;
  void (*run)(const ByteGemmTask& task);
};
ByteGemmWay byteGemmWay(int index);  ///< without a name behind the last

}  // namespace fusescope::native
