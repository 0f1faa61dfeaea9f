#include "backends/native/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/transpose.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Copies a square of `kSquare` rows and columns, transposed. Four floats are a vector on every CPU that has some.
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

}  // namespace

void transposeHere(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
                   std::int64_t columns) {
  const std::int64_t wholeRows = rows / kSquare * kSquare, wholeColumns = columns / kSquare * kSquare;
  for (std::int64_t j = 0; j < wholeColumns; j += kSquare)
    for (std::int64_t i = 0; i < wholeRows; i += kSquare)
      transposeSquare(from + i * fromStride + j, fromStride, to + j * toStride + i, toStride);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < wholeRows ? wholeColumns : 0; j < columns; ++j)
      to[j * toStride + i] = from[i * fromStride + j];
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(transposeHere);

void transpose(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
               std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transposeHere)(from, fromStride, to, toStride, rows, columns);
}

}  // namespace fusescope::native
#endif
