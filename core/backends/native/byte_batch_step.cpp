#include "backends/native/byte_batch_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/byte_gemm.h"
#include "backends/native/byte_matrix.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelWork = 64 * 1024;

class ByteBatchStep final : public Step {
 public:
  ByteBatchStep(ByteBatchCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    if (m_call.batches * m_call.m * m_call.n * m_call.k < kParallelWork) m_threads = 1;
    m_columns = bytePanels(m_call.n) * bytePanel();
  }

  std::size_t scratchBytes() const override { return static_cast<std::size_t>(m_threads) * bytesOfOne(); }

  Status run(Memory memory, std::byte* scratch) const override {
    const auto* a = elementsAt<std::uint8_t>(m_call.a, memory);
    const auto* b = elementsAt<std::uint8_t>(m_call.b, memory);
    auto* sums = elementsAt<std::int32_t>(m_call.sums, memory);
    const std::int64_t m = m_call.m, k = m_call.k, n = m_call.n;
#pragma omp parallel for schedule(static) num_threads(m_threads) if (m_threads > 1)
    for (std::int64_t i = 0; i < m_call.batches; ++i)
      multiply(a + i * m * k, b + i * k * n, sums + i * m * n,
               scratch + static_cast<std::size_t>(omp_get_thread_num()) * bytesOfOne());
    return Done{};
  }

 private:
  std::int64_t panelBytes() const {
    return (packedBytes(m_call.k, m_call.n) + 63) / 64 * 64;
  }
  std::size_t bytesOfOne() const {
    const auto packed =
        static_cast<std::size_t>(panelBytes()) + 2 * static_cast<std::size_t>(m_columns) * sizeof(std::int32_t);
    return (packed + ByteRowsBuffer::bytes(m_call.m, m_call.k) + 63) / 64 * 64;
  }

  void multiply(const std::uint8_t* a, const std::uint8_t* b, std::int32_t* c, std::byte* scratch) const {
    const std::int64_t m = m_call.m, k = m_call.k, n = m_call.n;
    auto* packed = reinterpret_cast<std::uint8_t*>(scratch);
    auto* columnSums = reinterpret_cast<std::int32_t*>(scratch + panelBytes());
    std::int32_t* columnZeros = columnSums + m_columns;
    packBytes(b, n, 1, k, n, turnOfB(m_call.b.dtype), packed);
    sumByteColumns(packed, k, 0, bytePanels(n), columnSums);
    std::fill_n(columnZeros, m_columns, zeroOfB(m_call.bZero, m_call.b.dtype));
    const ByteRowsBuffer rows = ByteRowsBuffer::at(reinterpret_cast<std::byte*>(columnZeros + m_columns), m);
    for (std::int64_t row = 0; row < m; ++row) {
      rows.zeros[row] = zeroOfA(m_call.aZero, m_call.a.dtype);
      rows.sums[row] = takeByteRow(a + row * k, k, turnOfA(m_call.a.dtype), rows.codes + row * byteDepth(k));
    }
    runByteGemm({.a = rows.codes,
                 .packed = packed,
                 .c = c,
                 .ldc = n,
                 .m = m,
                 .n = n,
                 .k = k,
                 .panels = bytePanels(n),
                 .rowZeros = rows.zeros,
                 .rowSums = rows.sums,
                 .columnZeros = columnZeros,
                 .columnSums = columnSums});
  }

  ByteBatchCall m_call;
  int m_threads;
  std::int64_t m_columns;
};

}  // namespace

std::unique_ptr<Step> makeByteBatchStep(ByteBatchCall call, int threads) {
  return std::make_unique<ByteBatchStep>(std::move(call), threads);
}

}  // namespace fusescope::native
