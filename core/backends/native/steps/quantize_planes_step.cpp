#include "backends/native/steps/quantize_planes_step.h"

#include <algorithm>
#include <array>

#include "backends/native/kernels/byte_matrix.h"
#include "backends/native/kernels/byte_range.h"
#include "backends/native/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/steps/quantize_planes_step.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
}

/// Calculates to[i · channels + c] = rows[c][i] ^ turn.
void interleavePlanesHere(const std::uint8_t* const* rows, std::int64_t channels, std::int64_t count, std::uint8_t turn,
                          std::uint8_t* to) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto turned = hn::Set(d, turn);
  const auto at = [&](std::int64_t c, std::int64_t i) HWY_ATTR { return hn::Xor(hn::LoadU(d, rows[c] + i), turned); };
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    std::uint8_t* here = to + i * channels;
    if (channels == 1) {
      hn::StoreU(at(0, i), d, here);
    } else if (channels == 2) {
      hn::StoreInterleaved2(at(0, i), at(1, i), d, here);
    } else if (channels == 3) {
      hn::StoreInterleaved3(at(0, i), at(1, i), at(2, i), d, here);
    } else {
      hn::StoreInterleaved4(at(0, i), at(1, i), at(2, i), at(3, i), d, here);
    }
  }
  for (; i < count; ++i)
    for (std::int64_t c = 0; c < channels; ++c) to[i * channels + c] = rows[c][i] ^ turn;
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {
namespace {

HWY_EXPORT(interleavePlanesHere);

constexpr std::int64_t kBlock = 512;  ///< places that are quantised at a time

class QuantizePlanesStep final : public Step {
 public:
  QuantizePlanesStep(Ref x, Ref codes, float scale, float zero, int threads)
      : m_x(std::move(x)), m_codes(std::move(codes)), m_threads(threads), m_channels(m_x.dims[1]) {
    m_turn = signFlipOfB(m_codes.dtype);
    m_by = {scale, static_cast<std::uint8_t>(zero + static_cast<float>(m_turn))};
    m_places = m_x.count() / m_x.dims[0] / m_channels;
  }

  Status run(Memory memory, std::byte*) const override {
    const float* x = elementsAt<float>(m_x, memory);
    auto* codes = elementsAt<std::uint8_t>(m_codes, memory);
    const std::int64_t blocks = (m_places + kBlock - 1) / kBlock;
    forEach(m_x.dims[0] * blocks, m_x.count() > 16 * 1024 ? m_threads : 1, [&](std::int64_t i) {
      const std::int64_t image = i / blocks, first = i % blocks * kBlock, count = std::min(kBlock, m_places - first);
      std::array<std::array<std::uint8_t, kBlock>, kMostPlanes> planes;
      std::array<const std::uint8_t*, kMostPlanes> rows{};
      for (std::int64_t c = 0; c < m_channels; ++c) {
        auto& plane = planes[static_cast<std::size_t>(c)];
        quantizeBytes(x + (image * m_channels + c) * m_places + first, count, m_by, plane.data());
        rows[static_cast<std::size_t>(c)] = plane.data();
      }
      HWY_DYNAMIC_DISPATCH(interleavePlanesHere)
      (rows.data(), m_channels, count, m_turn, codes + (image * m_places + first) * m_channels);
    });
    return Done{};
  }

 private:
  Ref m_x, m_codes;
  int m_threads;
  std::int64_t m_channels, m_places = 0;
  std::uint8_t m_turn = 0;
  ByteScale m_by;
};

}  // namespace

std::unique_ptr<Step> makeQuantizePlanesStep(Ref x, Ref codes, float scale, float zero, int threads) {
  return std::make_unique<QuantizePlanesStep>(std::move(x), std::move(codes), scale, zero, threads);
}

}  // namespace fusescope::native
#endif
