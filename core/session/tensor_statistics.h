#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/stop.h"
#include "calibration/histogram.h"
#include "ir/tensor.h"

namespace fusescope {

/// What becomes of a number that is stored in a narrower float type, rounded to nearest even as IEEE 754 says.
enum class NarrowFate {
  Kept,        ///< it is a normal number there, zero, or was no finite number before
  Overflows,   ///< it becomes infinite, or where the type has no infinity, the largest number or NaN
  Underflows,  ///< it was not zero, and becomes zero
  Denormal,    ///< it becomes a number of fewer digits than the type has, which some hardware takes for zero
};
/// `narrow`: F16, BF16 or F32, which rounds numbers of F64. Of any other type everything is kept.
NarrowFate fateIn(DataType narrow, double number);

/// The float types that numbers of `type` may be lowered to and lose something in, the widest first: F32 of F64 alone,
/// BF16 and F16 of what is wider. None for integers and for floats of a byte.
std::vector<DataType> narrowTypesFor(DataType type);

/// How many of the elements that were looked at have each fate in a type.
struct NarrowCounts {
  DataType type = DataType::Undefined;
  std::int64_t overflow = 0, underflow = 0, denormal = 0;
  bool operator==(const NarrowCounts&) const = default;
};

/// What the elements of a tensor are. Numbers are of finite elements; counts are of the elements that were looked at.
struct TensorStatistics {
  std::string unavailable;  ///< for people, why nothing below is told; empty: it is
  std::int64_t count = 0;   ///< elements that the tensor has
  std::int64_t looked = 0;  ///< elements that were looked at: all, or every `stride`-th
  std::int64_t stride = 1;
  std::int64_t zeros = 0, nan = 0, infinite = 0;
  std::int64_t leastAt = -1, mostAt = -1;  ///< of a finite element, its place in row-major order; -1: there is none
  double least = 0, most = 0, mean = 0, rms = 0;
  /// Each different element and how often it is there, in rising order; empty where there are more than kMostDistinct.
  std::vector<std::pair<std::string, std::int64_t>> distinct;
  std::vector<NarrowCounts> narrow;  ///< in the types of narrowTypesFor()
  Histogram histogram;               ///< of floats and integers
  static constexpr std::size_t kMostDistinct = 16;

  bool hasNumbers() const { return leastAt >= 0; }
};

/// Looks at `mostElements` at the most: at every n-th, where n has no factor in common with the last extent, so that
/// all columns are met. What is no tensor of real numbers, truth values or texts, or has no data, is said in
/// `unavailable`. Errors: cancellation. Thread-safe; takes some nanoseconds an element.
Result<TensorStatistics> statisticsOf(const Tensor& tensor, std::int64_t mostElements = INT64_MAX,
                                      const StopToken& stop = {});

/// Why the elements of `tensor` cannot be shown as numbers, for people; empty: they can.
std::string whyNoNumbers(const Tensor& tensor);

/// Element `i` as it stands: whole numbers with all digits, floats with as many as tell them apart, "true", texts in
/// quotes.
std::string elementText(const Tensor& tensor, std::int64_t i);

/// "[0, 3, 1]": the indices of element `i` along each axis; "[]" of a tensor without axes.
std::string indexText(const Dims& dims, std::int64_t i);

/// {count, looked_at, stride, zeros, nan, infinite, min, max, mean, rms, min_at[], max_at[], distinct[{value, count}],
/// narrow[{type, overflow, underflow, denormal}]}, or {unavailable, count}. What is not known is null.
Json toJson(const TensorStatistics& statistics, const Tensor& tensor);

/// How far `actual` is from `expected`, element by element, and where most.
struct TensorDifference {
  std::string unavailable;  ///< for people: they cannot be compared; empty: they can
  double maxAbs = 0, rms = 0;
  double maxOverRms = 0;  ///< infinite where rms is 0 and something differs
  std::int64_t at = -1;   ///< the element with the largest difference; -1: no two finite numbers were compared
  std::int64_t notFinite = 0, firstNotFinite = -1;  ///< elements that are finite in `expected` alone, and the first
  Tensor tensor;                                    ///< actual - expected, F32; NaN where either is not finite
};
Result<TensorDifference> differenceOf(const Tensor& actual, const Tensor& expected, const StopToken& stop = {});
/// {max_abs, rms, max_over_rms, at[], not_finite, first_not_finite[]}, or {unavailable}.
Json toJson(const TensorDifference& difference);

}  // namespace fusescope
