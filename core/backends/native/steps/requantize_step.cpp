#include "backends/native/steps/requantize_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/native/kernels/parallel.h"

namespace fusescope::native {
namespace {

/// Adding and subtracting this number rounds any number below 2^51 to the nearest even integer.
constexpr double kRounds = 6755399441055744.0;

template <class T>
class RequantizeStep final : public Step {
 public:
  RequantizeStep(RequantizeCall call, int threads) : m_call(std::move(call)), m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const auto* sums = elementsAt<std::int32_t>(m_call.sums, memory);
    T* codes = elementsAt<T>(m_call.codes, memory);
    const auto* factors = reinterpret_cast<const double*>(memory[static_cast<std::size_t>(m_call.factors)]);
    const std::int32_t* bias =
        m_call.bias == kNoBuffer ? nullptr
                                 : reinterpret_cast<const std::int32_t*>(memory[static_cast<std::size_t>(m_call.bias)]);
    const std::int64_t count = m_call.sums.count(), length = m_call.inner == 1 ? m_call.channels : m_call.inner;
    forEach(count / length, count > kFewElements ? m_threads : 1, [&](std::int64_t row) {
      const std::int32_t* from = sums + row * length;
      T* to = codes + row * length;
      if (m_call.inner == 1 && bias != nullptr) {
        for (std::int64_t i = 0; i < length; ++i) to[i] = code(from[i] + bias[i], factors[i]);
      } else if (m_call.inner == 1) {
        for (std::int64_t i = 0; i < length; ++i) to[i] = code(from[i], factors[i]);
      } else {
        const std::int64_t channel = row % m_call.channels;
        const std::int32_t shift = bias == nullptr ? 0 : bias[channel];
        for (std::int64_t i = 0; i < length; ++i) to[i] = code(from[i] + shift, factors[channel]);
      }
    });
    return Done{};
  }

 private:
  T code(std::int32_t sum, double factor) const {
    const double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const double whole = (static_cast<double>(sum) * factor + kRounds) - kRounds;
    return static_cast<T>(std::min(most, std::max(least, whole + m_call.zero)));  // NaN becomes `least`
  }

  RequantizeCall m_call;
  int m_threads;
};

}  // namespace

std::unique_ptr<Step> makeRequantizeStep(RequantizeCall call, int threads) {
  if (call.codes.dtype == DataType::I8) return std::make_unique<RequantizeStep<std::int8_t>>(std::move(call), threads);
  return std::make_unique<RequantizeStep<std::uint8_t>>(std::move(call), threads);
}

}  // namespace fusescope::native
