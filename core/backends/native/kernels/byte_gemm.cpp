#include "backends/native/kernels/byte_gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/byte_gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using I32 = hn::ScalableTag<std::int32_t>;
using VI = hn::Vec<I32>;

constexpr std::int64_t kLanes = HWY_MAX_BYTES / 4;
constexpr int kVectors = HWY_MAX_BYTES == 64 ? 4 : 2;
constexpr std::int64_t kPanel = kVectors * kLanes;

namespace by_words {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
/// Widens the bytes to words of 16 bits: the sum of two of their products cannot overflow 32 bits.
HWY_INLINE VI dotBytes(VI sum, VI unsignedBytes, VI signedBytes) {
  const I32 d;
  const hn::Repartition<std::int16_t, I32> words;
  const hn::Repartition<std::uint16_t, I32> counts;
  const auto a = hn::BitCast(words, signedBytes);
  const auto b = hn::BitCast(counts, unsignedBytes);
  const auto evenA = hn::ShiftRight<8>(hn::ShiftLeft<8>(a)), oddA = hn::ShiftRight<8>(a);
  const auto evenB = hn::BitCast(words, hn::And(b, hn::Set(counts, 0xFF)));
  const auto oddB = hn::BitCast(words, hn::ShiftRight<8>(b));
  VI unused = hn::Zero(d);
  const VI half = hn::ReorderWidenMulAccumulate(d, evenA, evenB, sum, unused);
  return hn::ReorderWidenMulAccumulate(d, oddA, oddB, half, unused);
}
#else
/// Multiplies byte by byte, which every vector unit can do.
template <int Byte>
HWY_INLINE VI productOf(VI unsignedBytes, VI signedBytes) {
  const I32 d;
  const VI a = hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * Byte>(signedBytes));
  const VI b = hn::And(hn::ShiftRight<8 * Byte>(unsignedBytes), hn::Set(d, 0xFF));
  return hn::Mul(a, b);
}
HWY_INLINE VI dotBytes(VI sum, VI unsignedBytes, VI signedBytes) {
  const VI front = hn::Add(productOf<0>(unsignedBytes, signedBytes), productOf<1>(unsignedBytes, signedBytes));
  const VI back = hn::Add(productOf<2>(unsignedBytes, signedBytes), productOf<3>(unsignedBytes, signedBytes));
  return hn::Add(sum, hn::Add(front, back));
}
#endif

#include "backends/native/kernels/byte_gemm-inl.h"

}  // namespace by_words
}  // namespace

std::int64_t bytePanelHere() {
  return kPanel;
}

std::int32_t packRowHere(const std::uint8_t* from, std::int64_t k, std::uint8_t turn, std::int8_t* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> wide;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto turned = hn::Set(d, turn), sign = hn::Set(d, std::uint8_t{0x80});
  auto sums = hn::Zero(wide);
  std::int64_t i = 0;
  for (; i + lanes <= k; i += lanes) {
    const auto bytes = hn::Xor(hn::LoadU(d, from + i), turned);
    hn::StoreU(bytes, d, reinterpret_cast<std::uint8_t*>(to) + i);
    // Each byte is 128 larger than the number that it represents.
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(bytes, sign)));
  }
  auto sum = static_cast<std::int32_t>(hn::GetLane(hn::SumOfLanes(wide, sums))) - static_cast<std::int32_t>(128 * i);
  for (; i < k; ++i) {
    to[i] = static_cast<std::int8_t>(from[i] ^ turn);
    sum += to[i];
  }
  return sum;
}

void interleaveHere(const std::uint8_t* const* rows, std::int64_t count, std::int64_t room, std::uint8_t* to) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i < count && i + lanes <= room; i += lanes)
    hn::StoreInterleaved4(hn::LoadU(d, rows[0] + i), hn::LoadU(d, rows[1] + i), hn::LoadU(d, rows[2] + i),
                          hn::LoadU(d, rows[3] + i), d, to + 4 * i);
  for (; i < count; ++i)
    for (std::int64_t j = 0; j < 4; ++j) to[4 * i + j] = rows[j][i];
}

void byteGemmHere(const ByteGemmTask& task) {
  by_words::byteGemm(task);
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Highway's targets do not distinguish AVX-512 with VNNI from AVX-512 without it; this code is for the former.
#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace by_dot_products {

HWY_INLINE VI dotBytes(VI sum, VI unsignedBytes, VI signedBytes) {
  return VI{_mm512_dpbusd_epi32(sum.raw, unsignedBytes.raw, signedBytes.raw)};
}

#include "backends/native/kernels/byte_gemm-inl.h"

}  // namespace by_dot_products
}  // namespace

void byteGemmByVnni(const ByteGemmTask& task) {
  by_dot_products::byteGemm(task);
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#define FUSESCOPE_BYTE_GEMM_VNNI HWY_NAMESPACE
namespace fusescope::native {
using HWY_NAMESPACE::byteGemmByVnni;
}
#endif

#if HWY_ONCE
namespace fusescope::native {
namespace {

HWY_EXPORT(bytePanelHere);
HWY_EXPORT(byteGemmHere);
HWY_EXPORT(packRowHere);
HWY_EXPORT(interleaveHere);

void runByWords(const ByteGemmTask& task) {
  HWY_DYNAMIC_DISPATCH(byteGemmHere)(task);
}

/// Returns the ways that this processor can run, the fastest first.
std::vector<ByteGemmWay> waysHere() {
  std::vector<ByteGemmWay> ways{{"words", runByWords}};
#ifdef FUSESCOPE_BYTE_GEMM_VNNI
  const bool avx3 = (hwy::SupportedTargets() & HWY_AVX3) != 0;
  if (avx3 && __builtin_cpu_supports("avx512vnni") != 0) ways.insert(ways.begin(), {"vnni", byteGemmByVnni});
#endif
  return ways;
}

const std::vector<ByteGemmWay>& ways() {
  static const std::vector<ByteGemmWay> kWays = waysHere();
  return kWays;
}

}  // namespace

std::int64_t bytePanel() {
  static const std::int64_t panel = HWY_DYNAMIC_DISPATCH(bytePanelHere)();
  return panel;
}

std::int64_t byteDepth(std::int64_t k) {
  return (k + 3) / 4 * 4;
}

std::int64_t bytePanels(std::int64_t n) {
  return (n + bytePanel() - 1) / bytePanel();
}

std::int64_t packedBytes(std::int64_t k, std::int64_t n) {
  return bytePanels(n) * bytePanel() * byteDepth(k);
}

void packBytes(const std::uint8_t* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
               std::uint8_t turn, std::uint8_t* packed) {
  const std::int64_t panel = bytePanel(), depth = byteDepth(k);
  std::fill_n(packed, packedBytes(k, n), std::uint8_t{0});
  for (std::int64_t first = 0; first < n; first += panel) {
    const std::int64_t columns = std::min(panel, n - first);
    std::uint8_t* to = packed + first * depth;
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        to[(i / 4 * panel + j) * 4 + i % 4] =
            static_cast<std::uint8_t>(b[i * rowStride + (first + j) * columnStride] ^ turn);
  }
}

void sumByteColumns(const std::uint8_t* packed, std::int64_t k, std::int64_t firstPanel, std::int64_t panels,
                    std::int32_t* sums) {
  const std::int64_t panel = bytePanel(), depth = byteDepth(k);
  for (std::int64_t p = firstPanel; p < firstPanel + panels; ++p) {
    std::int32_t* to = sums + p * panel;
    std::fill_n(to, panel, 0);
    const std::uint8_t* from = packed + p * panel * depth;
    for (std::int64_t i = 0; i < depth; i += 4, from += 4 * panel)
      for (std::int64_t j = 0; j < panel; ++j)
        to[j] += from[4 * j] + from[4 * j + 1] + from[4 * j + 2] + from[4 * j + 3];
  }
}

std::int32_t packByteRow(const std::uint8_t* from, std::int64_t k, std::uint8_t turn, std::int8_t* to) {
  const std::int32_t sum = HWY_DYNAMIC_DISPATCH(packRowHere)(from, k, turn, to);
  std::fill(to + k, to + byteDepth(k), std::int8_t{0});
  return sum;
}

void interleaveBytes(const std::uint8_t* const (&rows)[4], std::int64_t count, std::int64_t room, std::uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(interleaveHere)(rows, count, room, to);
}

void runByteGemm(const ByteGemmTask& task) {
  static const auto run = ways().front().run;
  run(task);
}

ByteGemmWay byteGemmWay(int index) {
  const auto at = static_cast<std::size_t>(index);
  return at < ways().size() ? ways()[at] : ByteGemmWay{nullptr, nullptr};
}

}  // namespace fusescope::native
#endif
