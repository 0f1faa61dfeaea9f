#include "backends/native/gate_product.h"

#include <algorithm>
#include <vector>

#include "backends/native/byte_gemm.h"
#include "backends/native/byte_range.h"
#include "backends/native/gemm.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelProduct = 256 * 1024;  // multiply-adds from which a product is worth several threads
constexpr std::uint8_t kTurn = 0x80;                   // between the codes of signed and unsigned bytes

/// Calls `run(first panel, panels)` for shares of the panels, on several threads where that pays.
template <class Run>
void sharePanels(std::int64_t panels, std::int64_t work, int threads, const Run& run) {
  const int parts = work < kParallelProduct ? 1 : static_cast<int>(std::min<std::int64_t>(threads, panels));
  if (parts == 1) return run(0, panels);
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const std::int64_t first = panels * part / parts;
    run(first, panels * (part + 1) / parts - first);
  }
}

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
  explicit QuantizedProduct(const GateCodes& from)
      : m_inputs(from.inputs),
        m_gates(from.gates),
        m_panels(bytePanels(from.gates)),
        m_packed(static_cast<std::size_t>(packedBytes(from.inputs, from.gates))),
        m_sums(static_cast<std::size_t>(m_panels * bytePanel())),
        m_zeros(m_sums.size()),
        m_scales(m_sums.size()) {
    packBytes(from.codes, m_gates, 1, m_inputs, m_gates, from.isSigned ? kTurn : 0, m_packed.data());
    sumByteColumns(m_packed.data(), m_inputs, 0, m_panels, m_sums.data());
    for (std::size_t gate = 0; gate < static_cast<std::size_t>(m_gates); ++gate) {
      m_zeros[gate] = from.zeros[from.zeros.size() == 1 ? 0 : gate] + (from.isSigned ? kTurn : 0);
      m_scales[gate] = from.scales[from.scales.size() == 1 ? 0 : gate];
    }
  }

  void multiply(const float* from, std::int64_t rows, float* to, std::int64_t stride, const float* bias, int threads,
                std::byte* scratch) const override {
    const ByteScale by = byteScaleOf(rangeOf(from, rows * m_inputs));
    auto* sums = reinterpret_cast<std::int32_t*>(scratch);
    std::int32_t* zeros = sums + rows;
    auto* codes = reinterpret_cast<std::int8_t*>(zeros + rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      zeros[row] = by.zero - kTurn;
      std::int8_t* to8 = codes + row * byteDepth(m_inputs);
      quantizeBytes(from + row * m_inputs, m_inputs, by, 0, reinterpret_cast<std::uint8_t*>(to8));
      sums[row] = takeByteRow(reinterpret_cast<const std::uint8_t*>(to8), m_inputs, kTurn, to8);
    }
    auto* integers = reinterpret_cast<std::int32_t*>(to);
    sharePanels(m_panels, rows * m_inputs * m_gates, threads, [&](std::int64_t first, std::int64_t panels) {
      runByteGemm({.a = codes,
                   .packed = m_packed.data(),
                   .c = integers,
                   .ldc = stride,
                   .m = rows,
                   .n = m_gates,
                   .k = m_inputs,
                   .firstPanel = first,
                   .panels = panels,
                   .rowZeros = zeros,
                   .rowSums = sums,
                   .columnZeros = m_zeros.data(),
                   .columnSums = m_sums.data()});
      const std::int64_t begin = first * bytePanel(), end = std::min(m_gates, (first + panels) * bytePanel());
      for (std::int64_t row = 0; row < rows; ++row)
        scaleSums(integers + row * stride + begin, end - begin, by.scale, m_scales.data() + begin,
                  bias == nullptr ? nullptr : bias + begin, to + row * stride + begin);
    });
  }
  std::size_t scratchBytes(std::int64_t rows) const override {
    return static_cast<std::size_t>(rows) * (2 * sizeof(std::int32_t) + static_cast<std::size_t>(byteDepth(m_inputs)));
  }
  std::size_t bytes() const override {
    return m_packed.size() + m_sums.size() * (2 * sizeof(std::int32_t) + sizeof(float));
  }

 private:
  std::int64_t m_inputs, m_gates, m_panels;
  std::vector<std::uint8_t> m_packed;
  std::vector<std::int32_t> m_sums, m_zeros;
  std::vector<float> m_scales;
};

}  // namespace

std::unique_ptr<GateProduct> makeGateProduct(const float* from, std::int64_t inputs, std::int64_t gates) {
  return std::make_unique<FloatProduct>(from, inputs, gates);
}

std::unique_ptr<GateProduct> makeQuantizedGateProduct(const GateCodes& from) {
  return std::make_unique<QuantizedProduct>(from);
}

}  // namespace fusescope::native
