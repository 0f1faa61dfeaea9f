#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/stop.h"
#include "calibration/histogram.h"
#include "ir/tensor.h"

namespace fusescope {

/// What happens to a number that is stored in a narrower float type, rounded to nearest even as in IEEE 754.
enum class NarrowFate {
  Kept,        ///< it is a normal number or zero there, or was not finite before
  Overflows,   ///< it becomes infinite or, if the type has no infinity, the largest number or NaN
  Underflows,  ///< it becomes zero and was not zero
  Denormal,    ///< it becomes denormal, with fewer digits than the type has; some hardware treats it as zero
};
/// Returns the fate of `number`. `narrow` is F16, BF16, or F32 for numbers of F64; other types keep everything.
NarrowFate fateIn(DataType narrow, double number);

/// Returns the float types to which numbers of `type` may be lowered with a loss, the widest first: F32 only for F64;
/// BF16 and F16 for wider types. Empty for integers and for floats of one byte.
std::vector<DataType> narrowTypesFor(DataType type);

/// The number of examined elements with each fate in a type.
struct NarrowCounts {
  DataType type = DataType::Undefined;
  std::int64_t overflow = 0, underflow = 0, denormal = 0;
  bool operator==(const NarrowCounts&) const = default;
};

/// Statistics of a tensor's elements. Numbers are those of finite elements; counts are those of the examined elements.
struct TensorStatistics {
  std::string unavailable;  ///< why there are no statistics, for people; empty: there are
  std::int64_t count = 0;   ///< elements of the tensor
  std::int64_t looked = 0;  ///< elements that were examined: all, or every `stride`-th
  std::int64_t stride = 1;
  std::int64_t zeros = 0, nan = 0, infinite = 0;
  std::int64_t leastAt = -1, mostAt = -1;  ///< index of a finite element in row-major order; -1: there is none
  double least = 0, most = 0, mean = 0, rms = 0;
  /// Each distinct element and its number of occurrences, in ascending order; empty if there are more than
  /// kMostDistinct.
  std::vector<std::pair<std::string, std::int64_t>> distinct;
  std::vector<NarrowCounts> narrow;  ///< for the types of narrowTypesFor()
  Histogram histogram;               ///< for floats and integers
  static constexpr std::size_t kMostDistinct = 16;

  bool hasNumbers() const { return leastAt >= 0; }
};

/// Examines at most `mostElements` elements: every n-th, where n has no factor in common with the last extent, so that
/// all columns are included. A tensor that has no data, or contains other things than real numbers, truth values or
/// text, has only `unavailable`. Errors: cancellation. Thread-safe; takes a few nanoseconds per element.
Result<TensorStatistics> statisticsOf(const Tensor& tensor, std::int64_t mostElements = INT64_MAX,
                                      const StopToken& stop = {});

/// Returns why the elements of `tensor` cannot be shown as numbers, for people; empty if they can.
std::string whyNoNumbers(const Tensor& tensor);

/// Returns element `i` as text: integers with all digits, floats with as many digits as distinguish them, "true", text
/// in quotes.
std::string elementText(const Tensor& tensor, std::int64_t i);

/// Returns the indices of element `i` along each axis, "[0, 3, 1]"; "[]" for a tensor without axes.
std::string indexText(const Dims& dims, std::int64_t i);

/// Returns {count, looked_at, stride, zeros, nan, infinite, min, max, mean, rms, min_at[], max_at[], distinct[{value,
/// count}], narrow[{type, overflow, underflow, denormal}]}, or {unavailable, count}. Unknown values are null.
Json toJson(const TensorStatistics& statistics, const Tensor& tensor);

/// The difference between `actual` and `expected`, element by element, and where it is largest.
struct TensorDifference {
  std::string unavailable;  ///< why they cannot be compared, for people; empty: they can
  double maxAbs = 0, rms = 0;
  double maxOverRms = 0;  ///< infinite if rms is 0 and something differs
  std::int64_t at = -1;   ///< index of the element with the largest difference; -1: no two finite numbers were compared
  std::int64_t notFinite = 0, firstNotFinite = -1;  ///< elements that are finite only in `expected`, and the first of
                                                    ///< them
  Tensor tensor;                                    ///< actual - expected, F32; NaN if either is not finite
};
Result<TensorDifference> differenceOf(const Tensor& actual, const Tensor& expected, const StopToken& stop = {});
/// Returns {max_abs, rms, max_over_rms, at[], not_finite, first_not_finite[]}, or {unavailable}.
Json toJson(const TensorDifference& difference);

}  // namespace fusescope
