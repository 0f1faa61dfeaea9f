#include "backends/native/kernels/gate_product.h"

#include <algorithm>

#include "backends/native/kernels/byte_range.h"
#include "backends/native/kernels/gemm.h"
#include "base/hash.h"

namespace fusescope::native {
namespace {

std::int64_t panelsOf(std::int64_t gates) {
  return (gates + gemmPanel() - 1) / gemmPanel();
}

class FloatProduct final : public GateProduct {
 public:
  FloatProduct(BufferIndex packed, DataType type, std::int64_t inputs, std::int64_t gates)
      : m_inputs(inputs), m_gates(gates), m_panels(panelsOf(gates)), m_packed(packed), m_type(type) {}

  void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias, int threads,
                Memory memory, std::byte*) const override {
    const Floats packed{m_type, memory[static_cast<std::size_t>(m_packed)]};
    sharePanels(m_panels, rows * m_inputs * m_gates, threads, [&](std::int64_t first, std::int64_t panels) {
      runGemm({.a = from,
               .lda = m_inputs,
               .packed = packed,
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

 private:
  std::int64_t m_inputs, m_gates, m_panels;
  BufferIndex m_packed;
  DataType m_type;
};

class QuantizedProduct final : public GateProduct {
 public:
  QuantizedProduct(ByteMatrix matrix, BufferIndex scales) : m_matrix(matrix), m_scales(scales) {}

  void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias, int threads,
                Memory memory, std::byte* scratch) const override {
    const auto* scales = reinterpret_cast<const float*>(memory[static_cast<std::size_t>(m_scales)]);
    const std::int64_t inputs = m_matrix.k(), gates = m_matrix.n();
    const ByteScale by = byteScaleOf(rangeOf(from, rows * inputs));
    const ByteRowsBuffer buffer = ByteRowsBuffer::at(scratch, rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int8_t* codes = buffer.codes + row * byteDepth(inputs);
      auto* bytes = reinterpret_cast<std::uint8_t*>(codes);
      quantizeBytes(from + row * inputs, inputs, by, bytes);
      buffer.zeros[row] = zeroOfA(by.zero, DataType::U8);
      buffer.sums[row] = packByteRow(bytes, inputs, signFlipOfA(DataType::U8), codes);
    }
    auto* integers = reinterpret_cast<std::int32_t*>(to);
    sharePanels(m_matrix.panels(), rows * inputs * gates, threads, [&](std::int64_t first, std::int64_t panels) {
      m_matrix.multiply(buffer.rows(rows), integers, stride, first, panels, memory);
      const std::int64_t begin = first * bytePanel(), end = std::min(gates, (first + panels) * bytePanel());
      for (std::int64_t row = 0; row < rows; ++row)
        scaleSums(integers + row * stride + begin, end - begin, by.scale, scales + begin,
                  bias == nullptr ? nullptr : bias + begin, to + row * stride + begin);
    });
  }
  std::size_t scratchBytes(std::int64_t rows) const override { return ByteRowsBuffer::bytes(rows, m_matrix.k()); }

 private:
  ByteMatrix m_matrix;
  BufferIndex m_scales;
};

}  // namespace

std::unique_ptr<GateProduct> makeGateProduct(BufferIndex packed, DataType type, std::int64_t inputs,
                                             std::int64_t gates) {
  return std::make_unique<FloatProduct>(packed, type, inputs, gates);
}

Packing gatePacking(Weight weight, DataType type, std::int64_t offset, std::int64_t inputs, std::int64_t gates) {
  KeyBuilder form;
  form.text("gates").text(name(type)).number(gemmPanel()).number(offset).number(inputs).number(gates);
  return packingOf(form.canonical(), {std::move(weight)},
                   [type, offset, inputs, gates](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor packed = packedMemory(byteSize(type, packedCount(inputs, gates)));
                     packAllPanels(numbers[0].data<float>().data() + offset, 1, inputs, inputs, gates,
                                   {type, packed.mutableBytes()});
                     return packed;
                   });
}

std::unique_ptr<GateProduct> makeQuantizedGateProduct(ByteMatrix matrix, BufferIndex scales) {
  return std::make_unique<QuantizedProduct>(matrix, scales);
}

}  // namespace fusescope::native
