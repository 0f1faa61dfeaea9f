#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Bounds for "equal enough". Each given bound must hold for every element. NaN equals NaN, an infinity itself.
struct Tolerance {
  std::optional<double> rms;                 ///< max|Δ| <= rms · rms(expected); exact if rms(expected) is 0
  std::optional<double> absolute, relative;  ///< |Δ| <= absolute + relative · |expected|
  static Tolerance standard() { return {.rms = 1e-3}; }
  /// What a session begins with, whose types are meant to be narrower than float32: one rounding to float16 alone
  /// takes half of standard().
  static Tolerance ofLoweredTypes() { return {.rms = 1e-2}; }
  bool operator==(const Tolerance&) const = default;
};

/// One tensor against what was expected; of a container the worst of its elements.
struct TensorComparison {
  std::string name;
  bool ok = false;
  std::string problem;  ///< why there are no numbers: type or extents differ, the tensor is missing, or, where it is
                        ///< `ok`, neither side holds a finite number
  double maxAbs = 0, maxRel = 0, maxOverRms = 0;
  double cosine = 1;   ///< NaN where one side is not finite, 0 where one is zero
  double ofBound = 0;  ///< the largest share of the given bounds that an element takes: at most 1 where `ok`
  /// Returns whether the comparison gives a result: there were numbers to compare (`problem` is empty), or the tensors
  /// differ although they contain none.
  bool tells() const { return problem.empty() || !ok; }
  bool operator==(const TensorComparison&) const = default;
};

TensorComparison compareTensors(const std::string& name, const Tensor& actual, const Tensor& expected,
                                const Tolerance& tolerance);
/// Every expected tensor, by name; one that is missing from `actual` fails.
std::vector<TensorComparison> compareAll(const std::map<std::string, Tensor>& actual,
                                         const std::map<std::string, Tensor>& expected, const Tolerance& tolerance);
/// Of two sides, by the sums of their products and squares: 1 where both are zero, 0 where one is.
double cosineOf(long double products, long double expectedSquares, long double actualSquares);
/// With so many digits behind the point; "-" where there is none.
std::string cosineText(double cosine, int digits);
/// Each comparison of `next` joins that of its name in `worst`, which keeps the larger errors of both; others are
/// added.
void takeWorst(std::vector<TensorComparison>& worst, const std::vector<TensorComparison>& next);
Json toJson(const TensorComparison& comparison);
/// The inverse; errors name the field.
Result<TensorComparison> tensorComparisonFromJson(const Json& json);

}  // namespace fusescope
