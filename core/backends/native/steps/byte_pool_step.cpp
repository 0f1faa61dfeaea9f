#include "backends/native/steps/byte_pool_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/parallel.h"
#include "base/aligned_memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/steps/byte_pool_step.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Calculates to[i] = the maximum of from[i + k · places.step], from `i` on, as far as whole vectors of `d` fit.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void greatestBy(D d, const T* from, PoolPlaces places, std::int64_t width, std::int64_t& i, T* to) {
  for (const auto lanes = static_cast<std::int64_t>(hn::Lanes(d)); i + lanes <= width; i += lanes) {
    auto most = hn::LoadU(d, from + i);
    for (std::int64_t k = 1; k < places.count; ++k) most = hn::Max(most, hn::LoadU(d, from + i + k * places.step));
    hn::StoreU(most, d, to + i);
  }
}

template <class T>
HWY_INLINE void greatest(const T* from, PoolPlaces places, std::int64_t width, T* to) {
  std::int64_t i = 0;
  greatestBy(hn::ScalableTag<T>(), from, places, width, i, to);
  greatestBy(hn::CappedTag<T, 16>(), from, places, width, i, to);
  greatestBy(hn::CappedTag<T, 1>(), from, places, width, i, to);
}

/// Takes the maximum first over the rows of the windows, into `row`, and then along that row.
template <class T>
HWY_INLINE void pool(const T* from, PoolPlaces rows, const PoolRow& how, T* row, T* to) {
  greatest(from, rows, how.extent * how.channels, row);
  for (std::int64_t i = 0; i < how.results; ++i) {
    std::int64_t first = i * how.stride - how.padding, count = how.kernel;
    for (; first < 0; first += how.dilation) --count;
    for (; first + (count - 1) * how.dilation >= how.extent;) --count;
    greatest(row + first * how.channels, {count, how.dilation * how.channels}, how.channels, to + i * how.channels);
  }
}

}  // namespace

void poolHere(bool isSigned, const std::byte* from, PoolPlaces rows, const PoolRow& how, std::byte* row,
              std::byte* to) {
  const auto as = [&]<class T>(const T* bytes)
                      HWY_ATTR { pool(bytes, rows, how, reinterpret_cast<T*>(row), reinterpret_cast<T*>(to)); };
  isSigned ? as(reinterpret_cast<const std::int8_t*>(from)) : as(reinterpret_cast<const std::uint8_t*>(from));
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(poolHere);

namespace {

class BytePoolStep final : public Step {
 public:
  BytePoolStep(BytePoolCall call, int threads) : m_call(std::move(call)) {
    const Dims &from = m_call.from.dims, &to = m_call.to.dims;
    const Window& window = m_call.window;
    m_row = {.extent = from[3],
             .channels = from[1],
             .results = to[3],
             .stride = window.strides[1],
             .dilation = window.dilations[1],
             .kernel = window.kernel[1],
             .padding = window.padBegin[1]};
    m_threads = m_call.from.count() > kFewBytes ? threads : 1;
    m_perThread = wholeLines(static_cast<std::size_t>(m_row.extent * m_row.channels));
  }

  std::size_t scratchBytes() const override { return m_perThread * static_cast<std::size_t>(m_threads); }

  Status run(Memory memory, std::byte* scratch) const override {
    const std::byte* from = bytesAt(m_call.from, memory);
    std::byte* to = bytesAt(m_call.to, memory);
    const std::int64_t height = m_call.from.dims[2], results = m_call.to.dims[2];
    const std::int64_t inRow = m_row.extent * m_row.channels, outRow = m_row.results * m_row.channels;
    const Window& window = m_call.window;
    const bool isSigned = m_call.from.dtype == DataType::I8;
    forEach(m_call.to.dims[0] * results, m_threads, [&](std::int64_t i) {
      std::int64_t first = i % results * window.strides[0] - window.padBegin[0], count = window.kernel[0];
      for (; first < 0; first += window.dilations[0]) --count;
      while (first + (count - 1) * window.dilations[0] >= height) --count;
      std::byte* row = scratch + m_perThread * static_cast<std::size_t>(omp_get_thread_num());
      HWY_DYNAMIC_DISPATCH(poolHere)
      (isSigned, from + (i / results * height + first) * inRow, {count, window.dilations[0] * inRow}, m_row, row,
       to + i * outRow);
    });
    return Done{};
  }

 private:
  BytePoolCall m_call;
  PoolRow m_row{};
  int m_threads = 1;
  std::size_t m_perThread = 0;
};

}  // namespace

std::unique_ptr<Step> makeBytePoolStep(BytePoolCall call, int threads) {
  return std::make_unique<BytePoolStep>(std::move(call), threads);
}

}  // namespace fusescope::native
#endif
