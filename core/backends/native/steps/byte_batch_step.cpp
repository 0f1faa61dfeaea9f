#include "backends/native/steps/byte_batch_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/byte_matrix.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/steps/byte_product_step.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

class ByteBatchStep final : public Step {
 public:
  ByteBatchStep(ByteBatchCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    const auto batches = static_cast<std::int64_t>(m_call.batches.size());
    if (batches * m_call.m * m_call.n * m_call.k < kFewProducts) m_threads = 1;
    m_parts = std::clamp((m_threads + batches - 1) / batches, std::int64_t{1}, m_call.m);
  }

  std::size_t scratchBytes() const override { return static_cast<std::size_t>(m_threads) * bytesOfOne(); }

  Status run(Memory memory, std::byte* scratch) const override {
    forEach(static_cast<std::int64_t>(m_call.batches.size()) * m_parts, m_threads, [&](std::int64_t i) {
      multiply(m_call.batches[static_cast<std::size_t>(i / m_parts)], i / m_parts, i % m_parts, memory,
               scratch + static_cast<std::size_t>(omp_get_thread_num()) * bytesOfOne());
    });
    return Done{};
  }

 private:
  std::int64_t rowsOfPart() const { return (m_call.m + m_parts - 1) / m_parts; }
  std::size_t bytesOfOne() const {
    return wholeLines(PackedBytes::bytes(m_call.k, m_call.n) + ByteRowsBuffer::bytes(rowsOfPart(), m_call.k));
  }

  /// Multiplies the rows of `part` of matrix `batch`, which is the product of `pair`.
  void multiply(const ByteBatchCall::Pair& pair, std::int64_t batch, std::int64_t part, Memory memory,
                std::byte* scratch) const {
    const std::int64_t k = m_call.k, n = m_call.n, first = part * rowsOfPart();
    const std::int64_t m = std::min(rowsOfPart(), m_call.m - first);
    if (m <= 0) return;
    const PackedBytes right = PackedBytes::at(scratch, k, n);
    right.take(elementsAt<std::uint8_t>(m_call.b, memory) + pair.b * k * n, k, n, m_call.b.dtype);
    writeZeroPoints(right, memory);
    const ByteRowsBuffer left = ByteRowsBuffer::at(scratch + PackedBytes::bytes(k, n), m);
    left.take(elementsAt<std::uint8_t>(m_call.a, memory) + (pair.a * m_call.m + first) * k, m, k,
              m_call.aZero ? byteAt(*m_call.aZero, memory) : 0, m_call.a.dtype);
    right.multiply(left.rows(m), k, n, elementsAt<std::int32_t>(m_call.sums, memory) + (batch * m_call.m + first) * n,
                   n, 0, bytePanels(n));
  }

  /// Writes the zero points of the columns. Columns that only fill the last panel get the last zero point.
  void writeZeroPoints(const PackedBytes& right, Memory memory) const {
    const std::int64_t given = m_call.bZero ? m_call.bZero->count() : 0;
    for (std::size_t column = 0; column < PackedBytes::columns(m_call.n); ++column) {
      const std::int64_t at = std::min(static_cast<std::int64_t>(column), given - 1);
      right.zeros[column] = zeroOfB(given == 0 ? 0 : byteAt(*m_call.bZero, memory, at), m_call.b.dtype);
    }
  }

  ByteBatchCall m_call;
  int m_threads;
  // Into how many parts the rows of a matrix are divided if there are fewer matrices than threads.
  std::int64_t m_parts = 1;
};

}  // namespace

std::unique_ptr<Step> makeByteBatchStep(ByteBatchCall call, int threads) {
  return std::make_unique<ByteBatchStep>(std::move(call), threads);
}

}  // namespace fusescope::native
