#include "backends/native/kernels/code_panels.h"

#include <algorithm>

#include "backends/native/kernels/gemm.h"
#include "base/hash.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/code_panels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

/// Widens rows of one block, which have the same scales and zeros.
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

/// The number of consecutive rows of codes that are multiplied into sums of their own: as many independent chains as
/// the latency of multiply-adds needs.
template <int Rows>
constexpr int kChains = Rows == 1 ? 4 : 2;

/// acc += the products of `Rows` rows of a by `Chains` rows of codes, from which the zeros are subtracted.
template <int Bits, int Rows, int Chains>
HWY_INLINE void multiplyRows(const std::uint8_t* codes, VF zero0, VF zero1, const float* a, std::int64_t lda,
                             VF (&acc)[Chains][Rows][2]) {
  const F32 d;
  const hn::RebindToSigned<F32> words;
  const hn::Rebind<std::uint8_t, F32> bytes;
  const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 4
  for (int chain = 0; chain < Chains; ++chain) {
    auto first = hn::PromoteTo(words, hn::LoadU(bytes, codes)), second = first;
    if constexpr (Bits == 4) {
      first = hn::And(first, hn::Set(words, 15));
      second = hn::ShiftRight<4>(second);
    } else {
      second = hn::PromoteTo(words, hn::LoadU(bytes, codes + lanes));
    }
    codes += lanes * Bits / 4;
    const VF b0 = hn::Sub(hn::ConvertTo(d, first), zero0), b1 = hn::Sub(hn::ConvertTo(d, second), zero1);
#pragma GCC unroll 2
    for (int row = 0; row < Rows; ++row) {
      const VF x = hn::Set(d, a[row * lda + chain]);
      acc[chain][row][0] = hn::MulAdd(x, b0, acc[chain][row][0]);
      acc[chain][row][1] = hn::MulAdd(x, b1, acc[chain][row][1]);
    }
  }
}

/// sums [Rows][2] += a [Rows, depth] times the rows of one block, whose scale is applied to their sums.
template <int Bits, int Rows>
HWY_INLINE void addBlock(const std::uint8_t* codes, const float* scales, const float* zeros, const float* a,
                         std::int64_t lda, std::int64_t depth, VF (&sums)[Rows][2]) {
  const F32 d;
  constexpr int kSteps = kChains<Rows>;
  const std::size_t lanes = hn::Lanes(d);
  const auto rowBytes = static_cast<std::int64_t>(lanes) * Bits / 4;
  const VF zero0 = hn::LoadU(d, zeros), zero1 = hn::LoadU(d, zeros + lanes);
  VF acc[kSteps][Rows][2];
  for (auto& chain : acc)
    for (auto& row : chain) row[0] = row[1] = hn::Zero(d);
  std::int64_t k = 0;
  for (; k + kSteps <= depth; k += kSteps)
    multiplyRows<Bits, Rows, kSteps>(codes + k * rowBytes, zero0, zero1, a + k, lda, acc);
  VF last[1][Rows][2];
  for (int row = 0; row < Rows; ++row)
    for (int half = 0; half < 2; ++half) {
      last[0][row][half] = acc[0][row][half];
      for (int chain = 1; chain < kSteps; ++chain)
        last[0][row][half] = hn::Add(last[0][row][half], acc[chain][row][half]);
    }
  for (; k < depth; ++k) multiplyRows<Bits, Rows, 1>(codes + k * rowBytes, zero0, zero1, a + k, lda, last);
  const VF scale0 = hn::LoadU(d, scales), scale1 = hn::LoadU(d, scales + lanes);
  for (int row = 0; row < Rows; ++row) {
    sums[row][0] = hn::MulAdd(last[0][row][0], scale0, sums[row][0]);
    sums[row][1] = hn::MulAdd(last[0][row][1], scale1, sums[row][1]);
  }
}

template <int Bits, int Rows>
void multiplyPanel(const CodePanels& panels, std::int64_t panel, const float* a, std::int64_t lda, const float* bias,
                   float* c, std::int64_t ldc) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d)), width = 2 * lanes, rowBytes = width * Bits / 8;
  const std::int64_t columns = (panels.n + width - 1) / width * width;
  const std::int64_t wanted = std::min(width, panels.n - panel * width);
  HWY_ALIGN float edge[2 * HWY_MAX_BYTES / sizeof(float)] = {};
  if (bias != nullptr) std::copy_n(bias, wanted, edge);
  VF sums[Rows][2];
  for (auto& row : sums) {
    row[0] = hn::Load(d, edge);
    row[1] = hn::Load(d, edge + lanes);
  }
  for (std::int64_t row = 0, block = 0; row < panels.k; row += panels.block, ++block) {
    const std::int64_t at = block * columns + panel * width;
    addBlock<Bits, Rows>(panels.codes + (panel * panels.k + row) * rowBytes, panels.scales + at, panels.zeros + at,
                         a + row, lda, std::min(panels.block, panels.k - row), sums);
  }
  for (int row = 0; row < Rows; ++row) {
    hn::Store(sums[row][0], d, edge);
    hn::Store(sums[row][1], d, edge + lanes);
    std::copy_n(edge, wanted, c + row * ldc);
  }
}

template <int Bits>
void multiplyPairs(const CodePanels& panels, std::int64_t panel, const float* a, std::int64_t lda, std::int64_t rows,
                   const float* bias, float* c, std::int64_t ldc) {
  std::int64_t row = 0;
  for (; row + 2 <= rows; row += 2) multiplyPanel<Bits, 2>(panels, panel, a + row * lda, lda, bias, c + row * ldc, ldc);
  if (row < rows) multiplyPanel<Bits, 1>(panels, panel, a + row * lda, lda, bias, c + row * ldc, ldc);
}

}  // namespace

void multiplyByPanelHere(const CodePanels& panels, std::int64_t panel, const float* a, std::int64_t lda,
                         std::int64_t rows, const float* bias, float* c, std::int64_t ldc) {
  panels.bits == 4 ? multiplyPairs<4>(panels, panel, a, lda, rows, bias, c, ldc)
                   : multiplyPairs<8>(panels, panel, a, lda, rows, bias, c, ldc);
}

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
HWY_EXPORT(multiplyByPanelHere);

namespace {

bool isSigned(DataType type) {
  return type == DataType::I8 || type == DataType::I4;
}

/// Returns element `i` of `codes`. Signed codes are increased by half of their range.
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

/// Returns `numbers` as [blocks, columns], with `change` applied to each. `numbers` contains either a single number for
/// all or one for each block and column, in the order in which the matrix is held.
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

void multiplyByPanel(const CodePanels& panels, std::int64_t panel, const float* a, std::int64_t lda, std::int64_t rows,
                     const float* bias, float* c, std::int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(multiplyByPanelHere)(panels, panel, a, lda, rows, bias, c, ldc);
}

}  // namespace fusescope::native
#endif
