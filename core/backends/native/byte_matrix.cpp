#include "backends/native/byte_matrix.h"

namespace fusescope::native {

ByteMatrix::ByteMatrix(const std::uint8_t* codes, DataType type, std::int64_t k, std::int64_t n,
                       std::span<const std::int32_t> zeros)
    : m_k(k),
      m_n(n),
      m_packed(static_cast<std::size_t>(packedBytes(k, n))),
      m_sums(static_cast<std::size_t>(bytePanels(n) * bytePanel())),
      m_zeros(m_sums.size()) {
  packBytes(codes, n, 1, k, n, turnOfB(type), m_packed.data());
  sumByteColumns(m_packed.data(), k, 0, panels(), m_sums.data());
  for (std::size_t column = 0; column < static_cast<std::size_t>(n); ++column)
    m_zeros[column] = zeroOfB(zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : column], type);
}

void ByteMatrix::multiply(const ByteRows& rows, std::int32_t* c, std::int64_t stride, std::int64_t first,
                          std::int64_t panels) const {
  runByteGemm({.a = rows.codes,
               .packed = m_packed.data(),
               .c = c,
               .ldc = stride,
               .m = rows.m,
               .n = m_n,
               .k = m_k,
               .firstPanel = first,
               .panels = panels,
               .rowZeros = rows.zeros,
               .rowSums = rows.sums,
               .columnZeros = m_zeros.data(),
               .columnSums = m_sums.data()});
}

}  // namespace fusescope::native
