#include "backends/native/steps/upsampling_step.h"

#include <algorithm>

#include "backends/native/kernels/parallel.h"

namespace fusescope::native {
namespace {

class UpsamplingStep final : public Step {
 public:
  UpsamplingStep(Upsampling at, int threads) : m_at(std::move(at)), m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const auto* from = elementsAt<const float>(m_at.from, memory);
    auto* to = elementsAt<float>(m_at.to, memory);
    const float *filters = elementsAt<float>(m_at.filters, memory), *bias = elementsAt<float>(m_at.bias, memory);
    const Dims &in = m_at.from.dims, &out = m_at.to.dims;
    // A line of results is given by an image, an output channel, a row of the input and a row of the kernel.
    const std::int64_t lines = out[0] * out[1] * out[2];
    forEachPiece(Claims(lines, m_threads), m_threads, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<float> sums(static_cast<std::size_t>(in[3]));
      for (std::int64_t line = begin; line < end; ++line) {
        const std::int64_t row = line % out[2], channel = line / out[2] % out[1], image = line / out[2] / out[1];
        const float* first = from + (image * in[1] * in[2] + row / m_at.down) * in[3];
        for (std::int64_t b = 0; b < m_at.across; ++b) {
          std::fill(sums.begin(), sums.end(), bias[channel]);
          sum(first, filters + (channel * m_at.down + row % m_at.down) * m_at.across + b, sums);
          float* target = to + line * out[3] + b;
          for (std::int64_t j = 0; j < in[3]; ++j) target[j * m_at.across] = sums[static_cast<std::size_t>(j)];
        }
      }
    });
    return Done{};
  }

 private:
  /// Sums over all input channels along one row. `first` is this row of the first channel; `filter` is the number by
  /// which this row of the first channel is multiplied.
  void sum(const float* first, const float* filter, std::vector<float>& sums) const {
    const Dims& in = m_at.from.dims;
    const std::int64_t plane = in[2] * in[3], perInput = m_at.to.dims[1] * m_at.down * m_at.across;
    float* into = sums.data();
    for (std::int64_t c = 0; c < in[1]; ++c) {
      const float weight = filter[c * perInput];
      const float* row = first + c * plane;
#pragma omp simd
      for (std::int64_t j = 0; j < in[3]; ++j) into[j] += weight * row[j];
    }
  }

  Upsampling m_at;
  int m_threads;
};

}  // namespace

std::unique_ptr<Step> makeUpsamplingStep(Upsampling at, int threads) {
  return std::make_unique<UpsamplingStep>(std::move(at), threads);
}

}  // namespace fusescope::native
