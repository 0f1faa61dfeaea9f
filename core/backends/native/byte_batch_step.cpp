#include "backends/native/byte_batch_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/byte_matrix.h"
#include "backends/native/parallel.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelWork = 64 * 1024;

class ByteBatchStep final : public Step {
 public:
  ByteBatchStep(ByteBatchCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    if (m_call.batches * m_call.m * m_call.n * m_call.k < kParallelWork) m_threads = 1;
  }

  std::size_t scratchBytes() const override { return static_cast<std::size_t>(m_threads) * bytesOfOne(); }

  Status run(Memory memory, std::byte* scratch) const override {
    const auto* a = elementsAt<std::uint8_t>(m_call.a, memory);
    const auto* b = elementsAt<std::uint8_t>(m_call.b, memory);
    auto* sums = elementsAt<std::int32_t>(m_call.sums, memory);
    const std::int64_t m = m_call.m, k = m_call.k, n = m_call.n;
    forEach(m_call.batches, m_threads, [&](std::int64_t i) {
      multiply(a + i * m * k, b + i * k * n, sums + i * m * n,
               scratch + static_cast<std::size_t>(omp_get_thread_num()) * bytesOfOne());
    });
    return Done{};
  }

 private:
  std::size_t bytesOfOne() const {
    return wholeLines(PackedBytes::bytes(m_call.k, m_call.n) + ByteRowsBuffer::bytes(m_call.m, m_call.k));
  }

  void multiply(const std::uint8_t* a, const std::uint8_t* b, std::int32_t* c, std::byte* scratch) const {
    const std::int64_t m = m_call.m, k = m_call.k, n = m_call.n;
    const PackedBytes right = PackedBytes::at(scratch, k, n);
    right.take(b, k, n, m_call.b.dtype);
    std::fill_n(right.zeros, PackedBytes::columns(n), zeroOfB(m_call.bZero, m_call.b.dtype));
    const ByteRowsBuffer left = ByteRowsBuffer::at(scratch + PackedBytes::bytes(k, n), m);
    left.take(a, m, k, m_call.aZero, m_call.a.dtype);
    right.multiply(left.rows(m), k, n, c, n, 0, bytePanels(n));
  }

  ByteBatchCall m_call;
  int m_threads;
};

}  // namespace

std::unique_ptr<Step> makeByteBatchStep(ByteBatchCall call, int threads) {
  return std::make_unique<ByteBatchStep>(std::move(call), threads);
}

}  // namespace fusescope::native
