#include "verify/compare_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_fields.h"

namespace fusescope {
namespace {

constexpr const char* kNoNumbers = "neither side contains a finite number";

TensorComparison failed(const std::string& name, std::string problem) {
  return {.name = name, .ok = false, .problem = std::move(problem), .ofBound = INFINITY};
}

std::string typeText(const Tensor& tensor) {
  if (tensor.container() != Container::None) return typeOf(tensor).text();
  return std::string(name(tensor.type())) + toText(tensor.dims());
}

/// Returns whether both are equal without a difference that is a number: NaN and NaN, or an infinity and itself.
bool sameSpecial(double a, double e) {
  return (std::isnan(a) && std::isnan(e)) || (std::isinf(e) && a == e);
}

/// Sums over all elements. Sums of squares have a type that represents the square of any double.
struct Sums {
  double maxAbs = 0, maxRel = 0;
  long double expectedSquares = 0, actualSquares = 0, products = 0;
  std::int64_t finite = 0;    ///< elements that are finite on both sides
  double ofAllowance = 0;     ///< the largest fraction of the absolute and relative bounds that an element uses
  bool integersEqual = true;  ///< equal bit for bit; for values that a double cannot represent

  void add(double actual, double expected, const Tolerance& tolerance) {
    if (sameSpecial(actual, expected)) return;
    const double difference = std::fabs(actual - expected);
    if (!std::isfinite(difference)) {
      maxAbs = maxRel = ofAllowance = INFINITY;
      return;
    }
    maxAbs = std::max(maxAbs, difference);
    if (difference > 0) maxRel = std::max(maxRel, expected != 0 ? difference / std::fabs(expected) : INFINITY);
    const double allowed = tolerance.absolute.value_or(0) + tolerance.relative.value_or(0) * std::fabs(expected);
    if (difference > 0) ofAllowance = std::max(ofAllowance, allowed > 0 ? difference / allowed : INFINITY);
    expectedSquares += static_cast<long double>(expected) * expected;
    actualSquares += static_cast<long double>(actual) * actual;
    products += static_cast<long double>(actual) * expected;
    ++finite;
  }
};

double overRms(const Sums& sums) {
  if (sums.maxAbs == 0) return 0;
  const long double mean = sums.finite > 0 ? sums.expectedSquares / static_cast<long double>(sums.finite) : 0;
  const auto rms = static_cast<double>(std::sqrt(mean));
  return rms > 0 ? sums.maxAbs / rms : INFINITY;
}

/// Returns the largest fraction of the bounds of `tolerance` that an element uses. Without bounds, it is 0 only for
/// exact results.
double shareOf(const Sums& sums, double maxOverRms, const Tolerance& tolerance) {
  const bool exact = sums.maxAbs == 0 && sums.integersEqual;
  if (exact) return 0;
  const bool bounded = tolerance.absolute || tolerance.relative;
  if (!tolerance.rms && !bounded) return INFINITY;
  double share = bounded ? sums.ofAllowance : 0;
  if (tolerance.rms && maxOverRms > 0)
    share = std::max(share, *tolerance.rms > 0 ? maxOverRms / *tolerance.rms : INFINITY);
  return share;
}

TensorComparison compareStrings(const std::string& name, const Tensor& actual, const Tensor& expected) {
  const auto& a = actual.strings();
  const auto& e = expected.strings();
  const auto [at, other] = std::ranges::mismatch(a, e);
  if (at == a.end() && other == e.end()) return {.name = name, .ok = true};
  return failed(name, "element " + std::to_string(at - a.begin()) + " differs");
}

/// Keeps the larger errors of both in `worst`.
void takeWorst(TensorComparison& worst, const TensorComparison& one) {
  if (!one.isMeaningful()) return;
  if (!worst.isMeaningful()) return void(worst = one);
  worst.ok = worst.ok && one.ok;
  worst.maxAbs = std::max(worst.maxAbs, one.maxAbs);
  worst.maxRel = std::max(worst.maxRel, one.maxRel);
  worst.maxOverRms = std::max(worst.maxOverRms, one.maxOverRms);
  if (std::isnan(one.cosine) || one.cosine < worst.cosine) worst.cosine = one.cosine;
  worst.ofBound = std::max(worst.ofBound, one.ofBound);
}

/// Returns the worst comparison of the elements; its problem is reported with the element's index.
TensorComparison compareElements(const std::string& name, const Tensor& actual, const Tensor& expected,
                                 const Tolerance& tolerance) {
  if (actual.count() != expected.count())
    return failed(name,
                  "has " + std::to_string(actual.count()) + " elements, expected " + std::to_string(expected.count()));
  TensorComparison worst{.name = name, .ok = true};
  for (std::size_t i = 0; i < expected.elements().size(); ++i) {
    const auto one = compareTensors(name, actual.elements()[i], expected.elements()[i], tolerance);
    takeWorst(worst, one);
    if (worst.problem.empty() && !one.problem.empty())
      worst.problem = "element " + std::to_string(i) + " " + one.problem;
  }
  return worst;
}

}  // namespace

TensorComparison compareTensors(const std::string& name, const Tensor& actual, const Tensor& expected,
                                const Tolerance& tolerance) {
  const bool sameKind = actual.container() == expected.container() && actual.type() == expected.type();
  if (!sameKind || actual.dims() != expected.dims())
    return failed(name, "is " + typeText(actual) + ", expected " + typeText(expected));
  if (!actual.hasData() || !expected.hasData()) return failed(name, "has no data");
  if (expected.container() != Container::None) return compareElements(name, actual, expected, tolerance);
  if (expected.type() == DataType::String) return compareStrings(name, actual, expected);

  Sums sums;
  const bool isNumberLine = !isFloat(expected.type());
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    sums.add(actual.asDouble(i), expected.asDouble(i), tolerance);
    if (isNumberLine && actual.asInt64(i) != expected.asInt64(i)) sums.integersEqual = false;
  }
  TensorComparison comparison{.name = name, .maxAbs = sums.maxAbs, .maxRel = sums.maxRel};
  comparison.maxOverRms = overRms(sums);
  // If only one side is infinite or NaN, the angle has no meaning.
  comparison.cosine = std::isinf(sums.maxAbs) ? NAN : cosineOf(sums.products, sums.expectedSquares, sums.actualSquares);
  // Integers and truth values must be equal, unless the caller gave bounds for them.
  const bool exactType = isNumberLine && !tolerance.absolute && !tolerance.relative;
  comparison.ofBound = shareOf(sums, comparison.maxOverRms, exactType ? Tolerance{} : tolerance);
  comparison.ok = comparison.ofBound <= 1;
  if (comparison.ok && sums.finite == 0 && expected.count() > 0) comparison.problem = kNoNumbers;
  return comparison;
}

std::vector<TensorComparison> compareAll(const std::map<std::string, Tensor>& actual,
                                         const std::map<std::string, Tensor>& expected, const Tolerance& tolerance) {
  std::vector<TensorComparison> comparisons;
  for (const auto& [name, tensor] : expected) {
    const auto found = actual.find(name);
    comparisons.push_back(found == actual.end() ? failed(name, "is missing")
                                                : compareTensors(name, found->second, tensor, tolerance));
  }
  return comparisons;
}

void takeWorst(std::vector<TensorComparison>& worst, const std::vector<TensorComparison>& next) {
  for (const TensorComparison& one : next) {
    const auto known = std::ranges::find(worst, one.name, &TensorComparison::name);
    if (known == worst.end()) {
      worst.push_back(one);
      continue;
    }
    takeWorst(*known, one);
    if (one.isMeaningful() && known->problem.empty()) known->problem = one.problem;
  }
}

double cosineOf(long double products, long double expectedSquares, long double actualSquares) {
  if (expectedSquares == 0 && actualSquares == 0) return 1;
  if (expectedSquares == 0 || actualSquares == 0) return 0;
  return static_cast<double>(products / (std::sqrt(expectedSquares) * std::sqrt(actualSquares)));
}

std::string cosineText(double cosine, int digits) {
  return std::isnan(cosine) ? "-" : fmt::format("{:.{}f}", cosine, digits);
}

Json toJson(const TensorComparison& comparison) {
  Json json{{"name", comparison.name}, {"ok", comparison.ok}};
  if (!comparison.problem.empty()) {
    json["problem"] = comparison.problem;
    for (const char* key : {"max_abs", "max_rel", "max_over_rms", "of_bound", "cosine"}) json[key] = nullptr;
    return json;
  }
  json["max_abs"] = jsonNumber(comparison.maxAbs);
  json["max_rel"] = jsonNumber(comparison.maxRel);
  json["max_over_rms"] = jsonNumber(comparison.maxOverRms);
  json["of_bound"] = jsonNumber(comparison.ofBound);
  json["cosine"] = jsonNumber(comparison.cosine);
  return json;
}

Result<TensorComparison> tensorComparisonFromJson(const Json& json) {
  TensorComparison comparison;
  JsonFields fields(json);
  fields.require("name").read("name", comparison.name).read("ok", comparison.ok).read("problem", comparison.problem);
  fields.readNumber("max_abs", comparison.maxAbs).readNumber("max_rel", comparison.maxRel);
  fields.readNumber("max_over_rms", comparison.maxOverRms).readNumber("cosine", comparison.cosine);
  if (!comparison.problem.empty() && !comparison.ok) comparison.ofBound = INFINITY;
  fields.readNumber("of_bound", comparison.ofBound);
  return fields.result(std::move(comparison));
}

}  // namespace fusescope
