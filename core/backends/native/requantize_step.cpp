#include "backends/native/requantize_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelCount = 16 * 1024;
/// Added and taken off again, it leaves the nearest even whole number of anything below 2^51.
constexpr double kRounds = 6755399441055744.0;

template <class T>
class RequantizeStep final : public Step {
 public:
  RequantizeStep(RequantizeCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    // Factors stand for each element of a row, so that every row is one plain loop.
    if (m_call.inner == 1) m_factors = spread(m_call.factors), m_bias = spread(m_call.bias);
  }

  Status run(Memory memory, std::byte*) override {
    const auto* sums = elementsAt<std::int32_t>(m_call.sums, memory);
    T* codes = elementsAt<T>(m_call.codes, memory);
    const std::int64_t count = m_call.sums.count(), length = m_call.inner == 1 ? m_call.channels : m_call.inner;
#pragma omp parallel for schedule(static) num_threads(m_threads) if (count > kParallelCount)
    for (std::int64_t row = 0; row < count / length; ++row) {
      const std::int32_t* from = sums + row * length;
      T* to = codes + row * length;
      if (m_call.inner == 1) {
        for (std::int64_t i = 0; i < length; ++i) to[i] = code(from[i] + m_bias[i], m_factors[i]);
        continue;
      }
      const auto channel = static_cast<std::size_t>(row % m_call.channels);
      const double factor = m_call.factors[m_call.factors.size() == 1 ? 0 : channel];
      const std::int32_t bias = m_call.bias.empty() ? 0 : m_call.bias[channel];
      for (std::int64_t i = 0; i < length; ++i) to[i] = code(from[i] + bias, factor);
    }
    return Done{};
  }

 private:
  template <class N>
  std::vector<N> spread(const std::vector<N>& given) const {
    std::vector<N> all(static_cast<std::size_t>(m_call.channels), given.empty() ? N(0) : given[0]);
    if (given.size() > 1) std::ranges::copy(given, all.begin());
    return all;
  }

  T code(std::int32_t sum, double factor) const {
    const double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const double whole = (static_cast<double>(sum) * factor + kRounds) - kRounds;
    return static_cast<T>(std::min(most, std::max(least, whole + m_call.zero)));  // not a number: the least
  }

  RequantizeCall m_call;
  int m_threads;
  std::vector<double> m_factors;
  std::vector<std::int32_t> m_bias;
};

}  // namespace

std::unique_ptr<Step> makeRequantizeStep(RequantizeCall call, int threads) {
  if (call.codes.dtype == DataType::I8) return std::make_unique<RequantizeStep<std::int8_t>>(std::move(call), threads);
  return std::make_unique<RequantizeStep<std::uint8_t>>(std::move(call), threads);
}

}  // namespace fusescope::native
