#include "backends/native/kernels/row_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/row_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/narrow_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

HWY_INLINE float laneSum(VF a) {
  const F32 d;
  return hn::GetLane(hn::SumOfLanes(d, a));
}

/// Multiplies the columns [begin, n) one by one.
template <class T>
void multiplyColumns(const float* row, const T* data, const MatrixView& matrix, std::int64_t begin, float* target) {
  for (std::int64_t j = begin; j < matrix.n; ++j) {
    const T* column = data + j * matrix.columnStride;
    float sum = 0;
    for (std::int64_t i = 0; i < matrix.k; ++i) sum += row[i] * widened(column[i * matrix.rowStride]);
    target[j] = sum;
  }
}

/// Multiplies columns that are adjacent in memory, four vectors of them at a time. Returns how many are done.
template <class T>
std::int64_t multiplyAcross(const float* row, const T* data, const MatrixView& matrix, float* target) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t j = 0;
  for (; j + 4 * lanes <= matrix.n; j += 4 * lanes) {
    VF a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
    const T* at = data + j;
    for (std::int64_t i = 0; i < matrix.k; ++i, at += matrix.rowStride) {
      const VF x = hn::Set(d, row[i]);
      a0 = hn::MulAdd(x, loadWide(d, at), a0);
      a1 = hn::MulAdd(x, loadWide(d, at + lanes), a1);
      a2 = hn::MulAdd(x, loadWide(d, at + 2 * lanes), a2);
      a3 = hn::MulAdd(x, loadWide(d, at + 3 * lanes), a3);
    }
    hn::StoreU(a0, d, target + j);
    hn::StoreU(a1, d, target + j + lanes);
    hn::StoreU(a2, d, target + j + 2 * lanes);
    hn::StoreU(a3, d, target + j + 3 * lanes);
  }
  for (; j + lanes <= matrix.n; j += lanes) {
    VF a = hn::Zero(d);
    const T* at = data + j;
    for (std::int64_t i = 0; i < matrix.k; ++i, at += matrix.rowStride)
      a = hn::MulAdd(hn::Set(d, row[i]), loadWide(d, at), a);
    hn::StoreU(a, d, target + j);
  }
  return j;
}

/// Multiplies columns whose elements are contiguous, four of them at a time. Returns how many are done.
template <class T>
std::int64_t multiplyAlong(const float* row, const T* data, const MatrixView& matrix, float* target) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t whole = matrix.k / lanes * lanes;
  std::int64_t j = 0;
  for (; j + 4 <= matrix.n; j += 4) {
    const T* columns[4];
    for (std::int64_t c = 0; c < 4; ++c) columns[c] = data + (j + c) * matrix.columnStride;
    VF a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
    for (std::int64_t i = 0; i < whole; i += lanes) {
      const VF x = hn::LoadU(d, row + i);
      a0 = hn::MulAdd(x, loadWide(d, columns[0] + i), a0);
      a1 = hn::MulAdd(x, loadWide(d, columns[1] + i), a1);
      a2 = hn::MulAdd(x, loadWide(d, columns[2] + i), a2);
      a3 = hn::MulAdd(x, loadWide(d, columns[3] + i), a3);
    }
    const float sums[4] = {laneSum(a0), laneSum(a1), laneSum(a2), laneSum(a3)};
    for (std::int64_t c = 0; c < 4; ++c) {
      float sum = sums[c];
      for (std::int64_t i = whole; i < matrix.k; ++i) sum += row[i] * widened(columns[c][i]);
      target[j + c] = sum;
    }
  }
  return j;
}

}  // namespace

void multiplyRowHere(const float* row, const MatrixView& matrix, float* target) {
  withFloats(matrix.data, [&](const auto* data) {
    std::int64_t done = 0;
    if (matrix.columnStride == 1) {
      done = multiplyAcross(row, data, matrix, target);
    } else if (matrix.rowStride == 1) {
      done = multiplyAlong(row, data, matrix, target);
    }
    multiplyColumns(row, data, matrix, done, target);
  });
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(multiplyRowHere);

void multiplyRow(const float* row, const MatrixView& matrix, float* target) {
  HWY_DYNAMIC_DISPATCH(multiplyRowHere)(row, matrix, target);
}

}  // namespace fusescope::native
#endif
