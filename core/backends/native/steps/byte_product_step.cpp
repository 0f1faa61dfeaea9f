#include "backends/native/steps/byte_product_step.h"

#include <algorithm>
#include <numeric>

#include "backends/native/kernels/byte_range.h"
#include "backends/native/kernels/parallel.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kLeastPiece = 4 * 1024;

class DynamicQuantizeStep final : public Step {
 public:
  DynamicQuantizeStep(Ref x, Ref codes, Ref scale, Ref zero, int threads)
      : m_x(std::move(x)), m_codes(std::move(codes)), m_scale(std::move(scale)), m_zero(std::move(zero)) {
    m_threads = m_x.count() < kFewElements ? 1 : threads;
  }

  std::size_t scratchBytes() const override { return static_cast<std::size_t>(m_threads) * sizeof(FloatRange); }

  Status run(Memory memory, std::byte* scratch) const override {
    const float* x = elementsAt<float>(m_x, memory);
    auto* codes = elementsAt<std::uint8_t>(m_codes, memory);
    auto* ranges = reinterpret_cast<FloatRange*>(scratch);
    const std::int64_t count = m_x.count();
    std::fill_n(ranges, m_threads, FloatRange());
    forEachPiece(Claims(count, m_threads, kLeastPiece), m_threads, [&](std::int64_t begin, std::int64_t end, int me) {
      ranges[me] = joined(ranges[me], rangeOf(x + begin, end - begin));
    });
    const ByteScale by = byteScaleOf(std::accumulate(ranges, ranges + m_threads, FloatRange(), joined));
    *elementsAt<float>(m_scale, memory) = by.scale;
    *elementsAt<std::uint8_t>(m_zero, memory) = by.zero;
    forEachPiece(Claims(count, m_threads, kLeastPiece), m_threads, [&](std::int64_t begin, std::int64_t end, int) {
      quantizeBytes(x + begin, end - begin, by, codes + begin);
    });
    return Done{};
  }

 private:
  Ref m_x, m_codes, m_scale, m_zero;
  int m_threads;
};

class ByteProductStep final : public Step {
 public:
  ByteProductStep(ByteProductCall call, int threads) : m_call(std::move(call)), m_threads(threads) {}
  std::size_t scratchBytes() const override { return ByteRowsBuffer::bytes(m_call.m, m_call.matrix.k()); }

  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t k = m_call.matrix.k(), n = m_call.matrix.n();
    const DataType type = m_call.a.dtype;
    const auto* a = elementsAt<std::uint8_t>(m_call.a, memory);
    const ByteRowsBuffer buffer = ByteRowsBuffer::at(scratch, m_call.m);
    buffer.take(a, m_call.m, k, m_call.aZero ? byteAt(*m_call.aZero, memory) : 0, type);
    auto* sums = elementsAt<std::int32_t>(m_call.sums, memory);
    sharePanels(m_call.matrix.panels(), m_call.m * k * n, m_threads, [&](std::int64_t first, std::int64_t panels) {
      m_call.matrix.multiply(buffer.rows(m_call.m), sums, n, first, panels, memory);
    });
    return Done{};
  }

 private:
  ByteProductCall m_call;
  int m_threads;
};

}  // namespace

std::int32_t byteAt(const Ref& numbers, Memory memory, std::int64_t i) {
  return numbers.dtype == DataType::I8 ? elementsAt<std::int8_t>(numbers, memory)[i]
                                       : elementsAt<std::uint8_t>(numbers, memory)[i];
}

std::unique_ptr<Step> makeDynamicQuantizeStep(Ref x, Ref codes, Ref scale, Ref zero, int threads) {
  return std::make_unique<DynamicQuantizeStep>(std::move(x), std::move(codes), std::move(scale), std::move(zero),
                                               threads);
}

std::unique_ptr<Step> makeByteProductStep(ByteProductCall call, int threads) {
  return std::make_unique<ByteProductStep>(std::move(call), threads);
}

}  // namespace fusescope::native
