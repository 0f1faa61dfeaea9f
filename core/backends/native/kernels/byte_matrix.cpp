#include "backends/native/kernels/byte_matrix.h"

#include "base/aligned_memory.h"
#include "base/hash.h"

namespace fusescope::native {

void ByteRowsBuffer::take(const std::uint8_t* from, std::int64_t m, std::int64_t k, std::int32_t zero,
                          DataType type) const {
  for (std::int64_t row = 0; row < m; ++row) {
    zeros[row] = zeroOfA(zero, type);
    sums[row] = packByteRow(from + row * k, k, signFlipOfA(type), codes + row * byteDepth(k));
  }
}

std::size_t PackedBytes::bytes(std::int64_t k, std::int64_t n) {
  return wholeLines(static_cast<std::size_t>(packedBytes(k, n))) + 2 * columns(n) * sizeof(std::int32_t);
}

PackedBytes PackedBytes::at(std::byte* memory, std::int64_t k, std::int64_t n) {
  auto* sums = reinterpret_cast<std::int32_t*>(memory + wholeLines(static_cast<std::size_t>(packedBytes(k, n))));
  return {reinterpret_cast<std::uint8_t*>(memory), sums, sums + columns(n)};
}

void PackedBytes::take(const std::uint8_t* from, std::int64_t k, std::int64_t n, DataType type) const {
  packBytes(from, n, 1, k, n, signFlipOfB(type), panels);
  sumByteColumns(panels, k, 0, bytePanels(n), sums);
}

void PackedBytes::multiply(const ByteRows& rows, std::int64_t k, std::int64_t n, std::int32_t* c, std::int64_t stride,
                           std::int64_t first, std::int64_t count) const {
  runByteGemm({.a = rows.codes,
               .packed = panels,
               .c = c,
               .ldc = stride,
               .m = rows.m,
               .n = n,
               .k = k,
               .firstPanel = first,
               .panels = count,
               .rowZeros = rows.zeros,
               .rowSums = rows.sums,
               .columnZeros = zeros,
               .columnSums = sums});
}

bool areAll(const Tensor& numbers, double number) {
  for (std::int64_t i = 0; i < numbers.count(); ++i)
    if (numbers.asDouble(i) != number) return false;
  return true;
}

Packing ByteMatrix::packing(Weight codes, std::optional<Weight> zeros, std::int64_t k, std::int64_t n,
                            std::int64_t index) {
  KeyBuilder form;
  form.text("bytes").number(bytePanel()).number(k).number(n).number(index).number(zeros.has_value());
  std::vector<Weight> weights = {std::move(codes)};
  if (zeros) weights.push_back(std::move(*zeros));
  return packingOf(
      form.canonical(), std::move(weights), [k, n, index](std::span<const Tensor> numbers) -> Result<Tensor> {
        Tensor packed = packedMemory(PackedBytes::bytes(k, n));
        const PackedBytes matrix = PackedBytes::at(packed.mutableBytes(), k, n);
        const DataType type = numbers[0].type();
        const auto* from = reinterpret_cast<const std::uint8_t*>(numbers[0].bytes()) + index * k * n;
        matrix.take(from, k, n, type);
        std::fill_n(matrix.zeros, PackedBytes::columns(n), 0);
        const std::int64_t each = numbers.size() < 2 ? 0 : numbers[1].count() / (numbers[0].count() / (k * n));
        for (std::int64_t column = 0; column < n; ++column) {
          const std::int64_t at = index * each + (each == 1 ? 0 : column);
          const double zero = each == 0 ? 0 : numbers[1].asDouble(at);
          matrix.zeros[column] = zeroOfB(static_cast<std::int32_t>(zero), type);
        }
        return packed;
      });
}

void ByteMatrix::multiply(const ByteRows& rows, std::int32_t* c, std::int64_t stride, std::int64_t first,
                          std::int64_t panels, Memory memory) const {
  PackedBytes::at(memory[static_cast<std::size_t>(m_packed)], m_k, m_n)
      .multiply(rows, m_k, m_n, c, stride, first, panels);
}

}  // namespace fusescope::native
