// Products of bytes against sums written out, in every way that this machine has to multiply.
#include "backends/native/kernels/byte_gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace fusescope::native {
namespace {

struct GemmCase {
  std::int64_t m, n, k;
  std::uint8_t turnA = 0x80, turnB = 0;  ///< 0x80: A's codes are unsigned, B's are signed
  bool perRow = true, perColumn = true;
};

std::vector<std::uint8_t> codes(std::int64_t count, std::mt19937& random) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  // Extremes more often than not: they are what saturates.
  for (auto& byte : bytes) byte = random() % 2 != 0 ? (random() % 2 != 0 ? 0xFF : 0x80) : random() & 0xFF;
  return bytes;
}

/// What a code stands for once its highest bit is turned to what the kernel takes.
std::int64_t asA(std::uint8_t code, std::uint8_t turn) {
  return static_cast<std::int8_t>(code ^ turn);
}
std::int64_t asB(std::uint8_t code, std::uint8_t turn) {
  return static_cast<std::uint8_t>(code ^ turn);
}

void check(const GemmCase& at, const ByteGemmWay& way) {
  std::mt19937 random(static_cast<unsigned>(at.m * 1000 + at.n + at.k));
  const auto a = codes(at.m * at.k, random), b = codes(at.k * at.n, random);
  const std::int64_t depth = byteDepth(at.k), wide = bytePanels(at.n) * bytePanel();
  std::vector<std::int8_t> rows(static_cast<std::size_t>(at.m * depth));
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(packedBytes(at.k, at.n)));
  std::vector<std::int32_t> rowSums, rowZeros, columnZeros, columnSums(static_cast<std::size_t>(wide));
  for (std::int64_t i = 0; i < at.m; ++i) {
    rowSums.push_back(packByteRow(a.data() + i * at.k, at.k, at.turnA, rows.data() + i * depth));
    rowZeros.push_back(static_cast<std::int32_t>(i * 7 % 128) - 64);
  }
  for (std::int64_t j = 0; j < wide; ++j) columnZeros.push_back(static_cast<std::int32_t>(j * 5 % 256));
  packBytes(b.data(), at.n, 1, at.k, at.n, at.turnB, packed.data());
  sumByteColumns(packed.data(), at.k, 0, bytePanels(at.n), columnSums.data());
  std::vector<std::int32_t> c(static_cast<std::size_t>(at.m * at.n), 12345);
  ByteGemmTask task{.a = rows.data(),
                    .packed = packed.data(),
                    .c = c.data(),
                    .ldc = at.n,
                    .m = at.m,
                    .n = at.n,
                    .k = at.k,
                    .panels = bytePanels(at.n),
                    .rowSums = rowSums.data(),
                    .columnSums = columnSums.data()};
  if (at.perRow) task.rowZeros = rowZeros.data();
  if (at.perColumn) task.columnZeros = columnZeros.data();
  way.run(task);
  for (std::int64_t i = 0; i < at.m; ++i) {
    for (std::int64_t j = 0; j < at.n; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t p = 0; p < at.k; ++p)
        sum += (asA(a[static_cast<std::size_t>(i * at.k + p)], at.turnA) -
                (at.perRow ? rowZeros[static_cast<std::size_t>(i)] : 0)) *
               (asB(b[static_cast<std::size_t>(p * at.n + j)], at.turnB) -
                (at.perColumn ? columnZeros[static_cast<std::size_t>(j)] : 0));
      ASSERT_EQ(c[static_cast<std::size_t>(i * at.n + j)], sum)
          << way.name << " " << at.m << "×" << at.k << "×" << at.n << " at " << i << ", " << j;
    }
  }
}

TEST(ByteGemm, SumsAreExactInEveryWayToMultiply) {
  int ways = 0;
  for (; byteGemmWay(ways).name != nullptr; ++ways) {
    for (const GemmCase& at :
         {GemmCase{1, 1, 1}, GemmCase{1, 200, 512}, GemmCase{6, 64, 4}, GemmCase{7, 65, 9}, GemmCase{13, 130, 31},
          GemmCase{24, 70, 216}, GemmCase{3, 33, 1024}, GemmCase{5, 40, 17, 0, 0x80}, GemmCase{8, 96, 12, 0, 0},
          GemmCase{9, 50, 20, 0x80, 0, false, true}, GemmCase{9, 50, 20, 0, 0, true, false},
          GemmCase{2, 20, 6, 0x80, 0x80, false, false}})
      check(at, byteGemmWay(ways));
  }
  EXPECT_GE(ways, 1);
}

}  // namespace
}  // namespace fusescope::native
