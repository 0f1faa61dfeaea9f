#include "backends/native/code_panels.h"

#include <algorithm>

#include "backends/native/gemm.h"
#include "base/hash.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/code_panels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

/// Rows of one block, which share scales and zeros.
template <int Bits>
HWY_INLINE void widenRows(const std::uint8_t* codes, const float* scales, const float* zeros, std::int64_t rows,
                          float* to) {
  const F32 d;
  const hn::RebindToSigned<F32> words;
  const hn::Rebind<std::uint8_t, F32> bytes;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF scale0 = hn::LoadU(d, scales), scale1 = hn::LoadU(d, scales + lanes);
  const VF zero0 = hn::LoadU(d, zeros), zero1 = hn::LoadU(d, zeros + lanes);
  for (std::int64_t row = 0; row < rows; ++row, to += 2 * lanes) {
    auto first = hn::PromoteTo(words, hn::LoadU(bytes, codes)), second = first;
    if constexpr (Bits == 4) {
      first = hn::And(first, hn::Set(words, 15));
      second = hn::ShiftRight<4>(second);
      codes += lanes;
    } else {
      second = hn::PromoteTo(words, hn::LoadU(bytes, codes + lanes));
      codes += 2 * lanes;
    }
    hn::StoreU(hn::Mul(hn::Sub(hn::ConvertTo(d, first), zero0), scale0), d, to);
    hn::StoreU(hn::Mul(hn::Sub(hn::ConvertTo(d, second), zero1), scale1), d, to + lanes);
  }
}

}  // namespace

void widenPanelHere(const CodePanels& panels, std::int64_t panel, std::int64_t begin, std::int64_t count, float* to) {
  const std::int64_t width = 2 * static_cast<std::int64_t>(hn::Lanes(F32())), rowBytes = width * panels.bits / 8;
  const std::int64_t columns = (panels.n + width - 1) / width * width;
  for (std::int64_t row = begin; row < begin + count;) {
    const std::int64_t block = row / panels.block, end = std::min(begin + count, (block + 1) * panels.block);
    const std::uint8_t* codes = panels.codes + (panel * panels.k + row) * rowBytes;
    const float* scales = panels.scales + block * columns + panel * width;
    const float* zeros = panels.zeros + block * columns + panel * width;
    float* here = to + (row - begin) * width;
    panels.bits == 4 ? widenRows<4>(codes, scales, zeros, end - row, here)
                     : widenRows<8>(codes, scales, zeros, end - row, here);
    row = end;
  }
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(widenPanelHere);

namespace {

bool isSigned(DataType type) {
  return type == DataType::I8 || type == DataType::I4;
}

/// Element `i` of codes, moved up by half of the range where they have a sign.
std::uint8_t unsignedCode(const Tensor& codes, std::int64_t i) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes.bytes());
  const bool halves = isPacked(codes.type());
  const unsigned code = halves ? bytes[i / 2] >> (i % 2 * 4) & 15U : bytes[i];
  return static_cast<std::uint8_t>(isSigned(codes.type()) ? code ^ (halves ? 8U : 128U) : code);
}

std::int64_t wholePanels(std::int64_t n) {
  return (n + gemmPanel() - 1) / gemmPanel() * gemmPanel();
}

std::string formOf(const char* what, const CodeMatrix& matrix) {
  return KeyBuilder()
      .text(what)
      .number(gemmPanel())
      .number(matrix.k)
      .number(matrix.n)
      .number(matrix.block)
      .number(matrix.turned)
      .canonical();
}

/// `numbers` along columns and blocks, one for all or as they are held, each after `change`.
template <class Change>
Tensor alongPanels(const CodeMatrix& matrix, const Tensor& numbers, const Change& change) {
  const std::int64_t columns = wholePanels(matrix.n), blocks = matrix.blocks();
  Tensor packed = Tensor::zeros(DataType::F32, {blocks, columns});
  float* to = packed.mutableData<float>().data();
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t j = 0; j < matrix.n; ++j) {
      const std::int64_t held = matrix.turned ? j * blocks + block : block * matrix.n + j;
      to[block * columns + j] = change(numbers.asDouble(matrix.oneScale ? 0 : held));
    }
  return packed;
}

}  // namespace

Packing codePanelPacking(const CodeMatrix& matrix) {
  const CodeMatrix how{.turned = matrix.turned, .k = matrix.k, .n = matrix.n};
  return packingOf(formOf("code panels", matrix), {matrix.codes},
                   [how, bits = matrix.bits()](std::span<const Tensor> numbers) -> Result<Tensor> {
                     const std::int64_t panel = gemmPanel(), rowBytes = panel * bits / 8;
                     Tensor packed = packedMemory(static_cast<std::size_t>(wholePanels(how.n) * how.k * bits / 8));
                     auto* to = reinterpret_cast<std::uint8_t*>(packed.mutableBytes());
                     std::fill_n(to, wholePanels(how.n) * how.k * bits / 8, std::uint8_t{0});
                     for (std::int64_t j = 0; j < how.n; ++j) {
                       const std::int64_t column = j % panel, half = bits == 4 ? column / (panel / 2) : 0;
                       std::uint8_t* at =
                           to + j / panel * how.k * rowBytes + (bits == 4 ? column % (panel / 2) : column);
                       for (std::int64_t i = 0; i < how.k; ++i) {
                         const std::uint8_t code = unsignedCode(numbers[0], how.turned ? j * how.k + i : i * how.n + j);
                         at[i * rowBytes] = static_cast<std::uint8_t>(at[i * rowBytes] | code << (4 * half));
                       }
                     }
                     return packed;
                   });
}

Packing panelScalePacking(const CodeMatrix& matrix) {
  CodeMatrix how = matrix;
  how.codes = how.scales = how.zeros = {};
  return packingOf(formOf("scales of panels", matrix), {matrix.scales},
                   [how](std::span<const Tensor> numbers) -> Result<Tensor> {
                     return alongPanels(how, numbers[0], [](double scale) { return static_cast<float>(scale); });
                   });
}

Packing panelZeroPacking(const CodeMatrix& matrix) {
  CodeMatrix how = matrix;
  how.codes = how.scales = how.zeros = {};
  const double up = !isSigned(matrix.codes.type) ? 0 : matrix.bits() == 4 ? 8 : 128;
  const auto moved = [up](double zero) { return static_cast<float>(zero + up); };
  const std::string form = formOf(up == 0 ? "zeros of panels" : "zeros of signed panels", matrix);
  if (matrix.zeros.type == DataType::Undefined)
    return packingOf(form + "none", {matrix.scales}, [how, moved](std::span<const Tensor>) -> Result<Tensor> {
      CodeMatrix none = how;
      none.oneScale = true;
      return alongPanels(none, Tensor::scalar(0.0f), moved);
    });
  return packingOf(form, {matrix.zeros}, [how, moved](std::span<const Tensor> numbers) -> Result<Tensor> {
    return alongPanels(how, numbers[0], moved);
  });
}

void widenPanel(const CodePanels& panels, std::int64_t panel, std::int64_t begin, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widenPanelHere)(panels, panel, begin, count, to);
}

}  // namespace fusescope::native
#endif
