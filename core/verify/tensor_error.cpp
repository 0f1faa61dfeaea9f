#include "verify/tensor_error.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/convert_elements.h"
#include "base/json_fields.h"
#include "base/number_range.h"
#include "verify/compare_tensors.h"

namespace fusescope {
namespace {

constexpr const char* kNothingToCompare = "all of it is infinite or NaN in the exact network, too";

/// Returns the quotient. It is also infinite if squares of numbers beyond 1e154 were too large to be added.
double over(double difference, double scale) {
  if (difference == 0) return 0;
  return scale > 0 && std::isfinite(scale) ? difference / scale : INFINITY;
}

/// Numbers that are stored in a type of their own.
class AsThemselves {
 public:
  explicit AsThemselves(DataType type) : m_units(type) {
    if (const auto range = rangeOf(type)) m_range = *range;
  }
  /// Returns whether `actual` is at an end of the range. The function is called only if it differs from the expected
  /// value.
  bool isSaturated(std::size_t, double actual, double) const {
    return actual >= m_range.most || actual <= m_range.least;
  }
  double units(std::size_t, double difference, double value) const { return m_units.of(difference, value); }
  static bool canHold(double) { return true; }

 private:
  NumberRange m_range{-INFINITY, INFINITY};
  UnitsInLastPlace m_units;
};

/// Numbers that are stored as codes.
class AsCodes {
 public:
  AsCodes(const CodeMeaning& meaning, const Dims& dims) : m_isInteger(isInteger(meaning.type)), m_units(meaning.type) {
    if (const auto range = rangeOf(meaning.type)) m_range = *range;
    for (std::int64_t i = 0; i < meaning.scale.count(); ++i)
      m_scales.push_back({meaning.scale.asDouble(i), meaning.zero.asDouble(i)});
    const std::int64_t rank = std::ssize(dims), axis = meaning.axis < 0 ? meaning.axis + rank : meaning.axis;
    for (std::int64_t i = axis + 1; i < rank; ++i)
      m_inner *= static_cast<std::size_t>(dims[static_cast<std::size_t>(i)]);
  }
  bool isSaturated(std::size_t at, double actual, double expected) const {
    const double has = codeOf(at, actual), wants = codeOf(at, expected);
    return (has >= m_range.most && wants > m_range.most) || (has <= m_range.least && wants < m_range.least);
  }
  double units(std::size_t at, double difference, double value) const {
    const double scale = scaleOf(at).scale;
    return m_units.of(difference / scale, value / scale);
  }
  static bool canHold(double expected) { return std::isfinite(expected); }  ///< codes represent finite numbers only

 private:
  struct Scale {
    double scale, zero;
  };
  const Scale& scaleOf(std::size_t at) const {
    return m_scales[m_scales.size() == 1 ? 0 : at / m_inner % m_scales.size()];
  }
  /// Returns the code that the number would have if the range of codes were unlimited.
  double codeOf(std::size_t at, double number) const {
    const auto [scale, zero] = scaleOf(at);
    return (m_isInteger ? std::nearbyint(number / scale) : number / scale) + zero;
  }

  bool m_isInteger;
  NumberRange m_range{-INFINITY, INFINITY};
  UnitsInLastPlace m_units;
  std::vector<Scale> m_scales;
  std::size_t m_inner = 1;
};

}  // namespace

bool TensorErrorSums::comparable(const Tensor& actual, const Tensor& expected) {
  const auto isNumeric = [](const Tensor& tensor) {
    const DataType type = tensor.type();
    return tensor.container() == Container::None && (isFloat(type) || isInteger(type) || type == DataType::Bool);
  };
  return isNumeric(actual) && isNumeric(expected) && actual.dims() == expected.dims();
}

template <class Number, class Stored>
void TensorErrorSums::addElements(std::span<const Number> actual, std::span<const Number> expected,
                                  const Stored& stored) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double a = static_cast<double>(actual[i]), e = static_cast<double>(expected[i]);
    if (!std::isfinite(a) || !std::isfinite(e)) {
      const bool same = std::isnan(e) ? std::isnan(a) : a == e;
      if (!same && stored.canHold(e)) ++m_nonFinite;
      if (!std::isfinite(e)) ++m_expectedNonFinite;
      continue;
    }
    ++m_compared;
    m_expectedSquares += e * e;
    m_actualSquares += a * a;
    m_products += a * e;
    if (a == e) continue;
    const double difference = std::fabs(a - e);
    m_squares += difference * difference;
    m_maxAbs = std::max(m_maxAbs, difference);
    m_ulp = std::max(m_ulp, stored.units(i, difference, std::max(std::fabs(a), std::fabs(e))));
    m_saturated += stored.isSaturated(i, a, e) ? 1 : 0;
    m_underflowed += a == 0 ? 1 : 0;
  }
  m_elements += static_cast<std::int64_t>(actual.size());
}

void TensorErrorSums::add(const Tensor& actual, const Tensor& expected, DataType stored) {
  const bool wide = actual.type() == DataType::F64 || expected.type() == DataType::F64 ||
                    bitWidth(actual.type()) > 32 || bitWidth(expected.type()) > 32;
  const DataType type = wide ? DataType::F64 : DataType::F32;
  const Tensor a = convertedTensor(actual, type), e = convertedTensor(expected, type);
  if (wide) return addElements(a.data<double>(), e.data<double>(), AsThemselves(stored));
  addElements(a.data<float>(), e.data<float>(), AsThemselves(stored));
}

Status TensorErrorSums::addCodes(const Tensor& codes, const Tensor& expected, const CodeMeaning& meaning,
                                 const StopToken& stop) {
  const Tensor actual = TRY(meaning.numbersOf(codes, stop)), exact = expected.converted(DataType::F32);
  m_codes = true;
  addElements(actual.data<float>(), exact.data<float>(), AsCodes(meaning, codes.dims()));
  return Done{};
}

void TensorErrorSums::add(const TensorErrorSums& other) {
  if (other.empty()) return;
  m_codes = (empty() || m_codes) && other.m_codes;
  m_elements += other.m_elements;
  m_nonFinite += other.m_nonFinite;
  m_expectedNonFinite += other.m_expectedNonFinite;
  m_saturated += other.m_saturated;
  m_underflowed += other.m_underflowed;
  m_compared += other.m_compared;
  m_maxAbs = std::max(m_maxAbs, other.m_maxAbs);
  m_ulp = std::max(m_ulp, other.m_ulp);
  m_squares += other.m_squares;
  m_expectedSquares += other.m_expectedSquares;
  m_actualSquares += other.m_actualSquares;
  m_products += other.m_products;
}

TensorError TensorErrorSums::error() const {
  TensorError error{.elements = m_elements, .maxAbs = m_maxAbs, .ulp = m_ulp, .codes = m_codes};
  const double rms = m_compared > 0 ? std::sqrt(m_expectedSquares / static_cast<double>(m_compared)) : 0;
  error.maxOverRms = over(m_maxAbs, rms);
  error.relL2 = over(std::sqrt(m_squares), std::sqrt(m_expectedSquares));
  if (m_compared == 0 && m_nonFinite > 0) error.maxAbs = error.maxOverRms = error.relL2 = error.ulp = INFINITY;
  if (m_nonFinite > 0 || (m_compared == 0 && m_elements > 0)) {
    error.cosine = NAN;
  } else if (m_squares > 0) {
    error.cosine = cosineOf(m_products, m_expectedSquares, m_actualSquares);
  }
  const double all = static_cast<double>(std::max<std::int64_t>(m_elements, 1));
  error.nonFinite = static_cast<double>(m_nonFinite) / all;
  error.expectedNonFinite = static_cast<double>(m_expectedNonFinite) / all;
  error.saturated = static_cast<double>(m_saturated) / all;
  error.underflowed = static_cast<double>(m_underflowed) / all;
  return error;
}

double largestOverRms(const TensorError& error) {
  return error.nonFinite > 0 ? INFINITY : error.maxOverRms;
}

double judgedError(const TensorError& error) {
  return error.codes ? error.relL2 : error.maxOverRms;
}

double fractionOfBound(const TensorError& error, double bound) {
  return error.nonFinite > 0 ? INFINITY : over(judgedError(error), bound);
}

Json toJson(const TensorError& error) {
  Json json = {{"elements", error.elements},
               {"max_abs", jsonNumber(error.maxAbs)},
               {"max_over_rms", jsonNumber(error.maxOverRms)},
               {"rel_l2", jsonNumber(error.relL2)},
               {"cosine", jsonNumber(error.cosine)},
               {"ulp", jsonNumber(error.ulp)},
               {"non_finite", error.nonFinite},
               {"expected_non_finite", error.expectedNonFinite},
               {"saturated", error.saturated},
               {"underflowed", error.underflowed},
               {"codes", error.codes}};
  if (error.isMeaningful()) return json;
  for (const char* number : {"max_abs", "max_over_rms", "rel_l2", "cosine", "ulp"}) json[number] = nullptr;
  json["problem"] = kNothingToCompare;
  return json;
}

Result<TensorError> tensorErrorFromJson(const Json& json) {
  TensorError error;
  JsonFields fields(json);
  fields.read("elements", error.elements).readNumber("max_abs", error.maxAbs);
  fields.readNumber("max_over_rms", error.maxOverRms).readNumber("rel_l2", error.relL2);
  fields.readNumber("cosine", error.cosine).readNumber("ulp", error.ulp);
  fields.read("expected_non_finite", error.expectedNonFinite);
  fields.read("non_finite", error.nonFinite).read("saturated", error.saturated);
  fields.read("underflowed", error.underflowed).read("codes", error.codes);
  if (!error.isMeaningful()) error.cosine = NAN;  // the other numbers are 0 then
  return fields.result(error);
}

}  // namespace fusescope
