#include "backends/native/byte_matrix.h"

#include "base/hash.h"

namespace fusescope::native {
namespace {

/// Where the parts of a packed matrix lie.
struct PackedMatrix {
  std::uint8_t* panels;
  std::int32_t *sums, *zeros;
  static std::size_t panelBytes(std::int64_t k, std::int64_t n) {
    return (static_cast<std::size_t>(packedBytes(k, n)) + 63) / 64 * 64;
  }
  static std::size_t columns(std::int64_t n) { return static_cast<std::size_t>(bytePanels(n) * bytePanel()); }
  static std::size_t bytes(std::int64_t k, std::int64_t n) {
    return panelBytes(k, n) + 2 * columns(n) * sizeof(std::int32_t);
  }
  static PackedMatrix at(std::byte* memory, std::int64_t k, std::int64_t n) {
    auto* sums = reinterpret_cast<std::int32_t*>(memory + panelBytes(k, n));
    return {reinterpret_cast<std::uint8_t*>(memory), sums, sums + columns(n)};
  }
};

}  // namespace

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
        Tensor packed = packedMemory(PackedMatrix::bytes(k, n));
        const PackedMatrix matrix = PackedMatrix::at(packed.mutableBytes(), k, n);
        const DataType type = numbers[0].type();
        const auto* from = reinterpret_cast<const std::uint8_t*>(numbers[0].bytes()) + index * k * n;
        packBytes(from, n, 1, k, n, turnOfB(type), matrix.panels);
        sumByteColumns(matrix.panels, k, 0, bytePanels(n), matrix.sums);
        std::fill_n(matrix.zeros, PackedMatrix::columns(n), 0);
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
  const PackedMatrix matrix = PackedMatrix::at(memory[static_cast<std::size_t>(m_packed)], m_k, m_n);
  runByteGemm({.a = rows.codes,
               .packed = matrix.panels,
               .c = c,
               .ldc = stride,
               .m = rows.m,
               .n = m_n,
               .k = m_k,
               .firstPanel = first,
               .panels = panels,
               .rowZeros = rows.zeros,
               .rowSums = rows.sums,
               .columnZeros = matrix.zeros,
               .columnSums = matrix.sums});
}

}  // namespace fusescope::native
