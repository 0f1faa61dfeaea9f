#include "backends/native/steps/norm_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/rows.h"

namespace fusescope::native {
namespace {

class NormStep final : public Step {
 public:
  NormStep(NormCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    m_alongRow = m_call.run == 1 && m_call.weights == m_call.count;
  }

  std::size_t scratchBytes() const override {
    return rowBytes(m_call.from, m_call.to, m_call.count) * static_cast<std::size_t>(m_threads);
  }
  Status run(Memory memory, std::byte* scratch) const override {
    const auto numbers = [&](const std::optional<Ref>& ref) { return ref ? elementsAt<float>(*ref, memory) : nullptr; };
    const float *scale = numbers(m_call.scale), *bias = numbers(m_call.bias);
    float *means = numbers(m_call.mean), *inverses = numbers(m_call.inverse);
    const bool rounds = m_call.rounded != DataType::Undefined, weighsRow = m_alongRow && !rounds;
    const NormRow how{.scale = weighsRow ? scale : nullptr,
                      .bias = weighsRow ? bias : nullptr,
                      .epsilon = m_call.epsilon,
                      .centred = m_call.centred};
    const std::int64_t total = m_call.from.count(), count = m_call.count;
    const std::int64_t rows = count == 0 ? 0 : total / count;
    const std::size_t bytes = rowBytes(m_call.from, m_call.to, count);
    forEach(rows, total > kFewElements ? m_threads : 1, [&](std::int64_t i) {
      auto* own = reinterpret_cast<float*>(scratch + bytes * static_cast<std::size_t>(omp_get_thread_num()));
      float* to = placeFloats(m_call.to, memory, i * count, own);
      normRow(readFloats(m_call.from, memory, i * count, count, own), to, count, how,
              means == nullptr ? nullptr : means + i, inverses == nullptr ? nullptr : inverses + i);
      if (rounds) roundFloats(m_call.rounded, to, to, static_cast<std::size_t>(count));
      if (!weighsRow) weigh(i * count, to, scale, bias);
      storeFloats(m_call.to, memory, i * count, count, to);
    });
    return Done{};
  }

 private:
  /// Applies scale and bias to the row `to`, whose first element has the index `begin` in the tensor.
  void weigh(std::int64_t begin, float* to, const float* scale, const float* bias) const {
    if (m_alongRow) {
      for (std::int64_t i = 0; i < m_call.count; ++i)
        to[i] = to[i] * (scale == nullptr ? 1.0f : scale[i]) + (bias == nullptr ? 0.0f : bias[i]);
      return;
    }
    for (std::int64_t i = begin; i < begin + m_call.count;) {
      const std::int64_t end = std::min(begin + m_call.count, (i / m_call.run + 1) * m_call.run);
      const std::int64_t weight = i / m_call.run % m_call.weights;
      const float factor = scale == nullptr ? 1.0f : scale[weight], offset = bias == nullptr ? 0.0f : bias[weight];
      for (; i < end; ++i) to[i - begin] = to[i - begin] * factor + offset;
    }
  }

  NormCall m_call;
  int m_threads;
  bool m_alongRow = false;
};

}  // namespace

std::unique_ptr<Step> makeNormStep(NormCall call, int threads) {
  return std::make_unique<NormStep>(std::move(call), threads);
}

}  // namespace fusescope::native
