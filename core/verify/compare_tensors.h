#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Bounds within which tensors count as equal. Each bound that is given must be satisfied by every element. NaN equals
/// NaN, and an infinity equals itself.
struct Tolerance {
  std::optional<double> rms;                 ///< max|Δ| <= rms · rms(expected); exact if rms(expected) is 0
  std::optional<double> absolute, relative;  ///< |Δ| <= absolute + relative · |expected|
  static Tolerance standard() { return {.rms = 1e-3}; }
  /// Returns the default of a session, in which types are meant to be narrower than float32. A single rounding to
  /// float16 uses half of standard().
  static Tolerance ofLoweredTypes() { return {.rms = 1e-2}; }
  bool operator==(const Tolerance&) const = default;
};

/// The comparison of one tensor with the expected one; for a container, of its worst element.
struct TensorComparison {
  std::string name;
  bool ok = false;
  /// Why there are no numbers: type or extents differ, or the tensor is missing; if `ok` is true, neither tensor has a
  /// finite number.
  std::string problem;
  double maxAbs = 0, maxRel = 0, maxOverRms = 0;
  double cosine = 1;   ///< NaN if a tensor is not finite, 0 if one is zero
  double ofBound = 0;  ///< the largest fraction of the given bounds that an element uses; at most 1 if `ok`
  /// Returns whether the comparison gives a result: there were numbers to compare (`problem` is empty), or the tensors
  /// differ although they contain none.
  bool isMeaningful() const { return problem.empty() || !ok; }
  bool operator==(const TensorComparison&) const = default;
};

TensorComparison compareTensors(const std::string& name, const Tensor& actual, const Tensor& expected,
                                const Tolerance& tolerance);
/// Compares every expected tensor, by name. A tensor that is missing in `actual` fails.
std::vector<TensorComparison> compareAll(const std::map<std::string, Tensor>& actual,
                                         const std::map<std::string, Tensor>& expected, const Tolerance& tolerance);
/// Returns the cosine from the sums of products and squares: 1 if both tensors are zero, 0 if one is.
double cosineOf(long double products, long double expectedSquares, long double actualSquares);
/// Returns the cosine with this number of decimals, or "-" if it is NaN.
std::string cosineText(double cosine, int digits);
/// Merges each comparison of `next` into the one with its name in `worst`, which keeps the larger errors of both;
/// others are added.
void takeWorst(std::vector<TensorComparison>& worst, const std::vector<TensorComparison>& next);
Json toJson(const TensorComparison& comparison);
/// Reads this form. Errors name the field.
Result<TensorComparison> tensorComparisonFromJson(const Json& json);

}  // namespace fusescope
