#include "backends/native/gate_product.h"

#include <algorithm>
#include <vector>

#include "backends/native/byte_range.h"
#include "backends/native/gemm.h"

namespace fusescope::native {
namespace {

class FloatProduct final : public GateProduct {
 public:
  FloatProduct(const float* from, std::int64_t inputs, std::int64_t gates)
      : m_inputs(inputs),
        m_gates(gates),
        m_panels((gates + gemmPanel() - 1) / gemmPanel()),
        m_packed(static_cast<std::size_t>(packedCount(inputs, gates))) {
    packPanels(from, 1, inputs, inputs, gates, 0, m_panels, m_packed.data());
  }

  void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias, int threads,
                std::byte*) const override {
    sharePanels(m_panels, rows * m_inputs * m_gates, threads, [&](std::int64_t first, std::int64_t panels) {
      runGemm({.a = from,
               .lda = m_inputs,
               .packed = m_packed.data(),
               .c = to,
               .ldc = stride,
               .bias = bias,
               .m = rows,
               .n = m_gates,
               .k = m_inputs,
               .firstPanel = first,
               .panels = panels});
    });
  }
  std::size_t scratchBytes(std::int64_t) const override { return 0; }
  std::size_t bytes() const override { return m_packed.size() * sizeof(float); }

 private:
  std::int64_t m_inputs, m_gates, m_panels;
  std::vector<float> m_packed;
};

class QuantizedProduct final : public GateProduct {
 public:
  QuantizedProduct(ByteMatrix matrix, std::span<const float> scales) : m_matrix(std::move(matrix)) {
    for (std::int64_t gate = 0; gate < m_matrix.n(); ++gate)
      m_scales.push_back(scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(gate)]);
  }

  void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias, int threads,
                std::byte* scratch) const override {
    const std::int64_t inputs = m_matrix.k(), gates = m_matrix.n();
    const ByteScale by = byteScaleOf(rangeOf(from, rows * inputs));
    const ByteRowsBuffer buffer = ByteRowsBuffer::at(scratch, rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int8_t* codes = buffer.codes + row * byteDepth(inputs);
      auto* bytes = reinterpret_cast<std::uint8_t*>(codes);
      quantizeBytes(from + row * inputs, inputs, by, bytes);
      buffer.zeros[row] = zeroOfA(by.zero, DataType::U8);
      buffer.sums[row] = takeByteRow(bytes, inputs, turnOfA(DataType::U8), codes);
    }
    auto* integers = reinterpret_cast<std::int32_t*>(to);
    sharePanels(m_matrix.panels(), rows * inputs * gates, threads, [&](std::int64_t first, std::int64_t panels) {
      m_matrix.multiply(buffer.rows(rows), integers, stride, first, panels);
      const std::int64_t begin = first * bytePanel(), end = std::min(gates, (first + panels) * bytePanel());
      for (std::int64_t row = 0; row < rows; ++row)
        scaleSums(integers + row * stride + begin, end - begin, by.scale, m_scales.data() + begin,
                  bias == nullptr ? nullptr : bias + begin, to + row * stride + begin);
    });
  }
  std::size_t scratchBytes(std::int64_t rows) const override { return ByteRowsBuffer::bytes(rows, m_matrix.k()); }
  std::size_t bytes() const override { return m_matrix.bytes() + m_scales.size() * sizeof(float); }

 private:
  ByteMatrix m_matrix;
  std::vector<float> m_scales;
};

}  // namespace

std::unique_ptr<GateProduct> makeGateProduct(const float* from, std::int64_t inputs, std::int64_t gates) {
  return std::make_unique<FloatProduct>(from, inputs, gates);
}

std::unique_ptr<GateProduct> makeQuantizedGateProduct(ByteMatrix matrix, std::span<const float> scales) {
  return std::make_unique<QuantizedProduct>(std::move(matrix), scales);
}

}  // namespace fusescope::native
