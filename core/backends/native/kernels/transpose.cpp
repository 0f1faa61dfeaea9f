#include "backends/native/kernels/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/transpose.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Transposes a square of `kSquare` rows and columns. A vector of four floats exists on every CPU that has vectors.
#if HWY_TARGET == HWY_SCALAR
constexpr std::int64_t kSquare = 1;
HWY_INLINE void transposeSquare(const float* from, std::int64_t, float* to, std::int64_t) {
  *to = *from;
}
#else
constexpr std::int64_t kSquare = 4;
HWY_INLINE void transposeSquare(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + fromStride), r2 = hn::LoadU(d, from + 2 * fromStride),
             r3 = hn::LoadU(d, from + 3 * fromStride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * toStride);
}
#endif

/// Does the same for narrower words, of which a square has as many per row as fit into 128 bits. Each round interleaves
/// the rows of the lower half with those of the upper half. This rotates the bits of a word's index by one, so that
/// after all rounds row and column are exchanged.
#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr std::int64_t kNarrowSquare = 1;
template <class T>
HWY_INLINE void transposeSquare(const T* from, std::int64_t, T* to, std::int64_t) {
  *to = *from;
}
#else
template <class T>
constexpr std::int64_t kNarrowSquare = 16 / sizeof(T);
template <class T>
HWY_INLINE void transposeSquare(const T* from, std::int64_t fromStride, T* to, std::int64_t toStride) {
  constexpr int kSide = kNarrowSquare<T>;
  const hn::FixedTag<T, kSide> d;
  hn::Vec<decltype(d)> rows[kSide], next[kSide];
  for (int i = 0; i < kSide; ++i) rows[i] = hn::LoadU(d, from + i * fromStride);
  for (int round = 1; round < kSide; round *= 2) {
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kSide / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kSide / 2]);
    }
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < kSide; ++i) hn::StoreU(rows[i], d, to + i * toStride);
}
#endif

/// Transposes in squares of `side` rows and columns, and the rest element by element.
template <class T>
HWY_INLINE void transposeAll(std::int64_t side, const T* from, std::int64_t fromStride, T* to, std::int64_t toStride,
                             std::int64_t rows, std::int64_t columns) {
  const std::int64_t wholeRows = rows / side * side, wholeColumns = columns / side * side;
  for (std::int64_t j = 0; j < wholeColumns; j += side)
    for (std::int64_t i = 0; i < wholeRows; i += side)
      transposeSquare(from + i * fromStride + j, fromStride, to + j * toStride + i, toStride);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < wholeRows ? wholeColumns : 0; j < columns; ++j)
      to[j * toStride + i] = from[i * fromStride + j];
}

}  // namespace

void transposeWords(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
                    std::int64_t columns) {
  transposeAll(kSquare, from, fromStride, to, toStride, rows, columns);
}

void transposeBytes(const std::uint8_t* from, std::int64_t fromStride, std::uint8_t* to, std::int64_t toStride,
                    std::int64_t rows, std::int64_t columns) {
  transposeAll(kNarrowSquare<std::uint8_t>, from, fromStride, to, toStride, rows, columns);
}

void transposeHalfWords(const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to, std::int64_t toStride,
                        std::int64_t rows, std::int64_t columns) {
  transposeAll(kNarrowSquare<std::uint16_t>, from, fromStride, to, toStride, rows, columns);
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(transposeWords);
HWY_EXPORT(transposeBytes);
HWY_EXPORT(transposeHalfWords);

void transpose(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
               std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transposeWords)(from, fromStride, to, toStride, rows, columns);
}

void transpose(const std::uint8_t* from, std::int64_t fromStride, std::uint8_t* to, std::int64_t toStride,
               std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transposeBytes)(from, fromStride, to, toStride, rows, columns);
}

void transpose(const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to, std::int64_t toStride,
               std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transposeHalfWords)(from, fromStride, to, toStride, rows, columns);
}

}  // namespace fusescope::native
#endif
