#pragma once

#include <cstdint>

#include "base/json.h"
#include "base/result.h"
#include "ir/tensor.h"
#include "verify/code_meaning.h"

namespace fusescope {

/// How far numbers are from what they should be, over all elements of all samples. Differences are taken where both
/// sides are finite, and infinite where that is nowhere; shares are of all elements.
struct TensorError {
  std::int64_t elements = 0;
  double maxAbs = 0;      ///< max|Δ|
  double maxOverRms = 0;  ///< the same over the rms of what is expected; infinite if that is 0 and something differs
  double relL2 = 0;       ///< |Δ|₂ over |expected|₂; likewise
  double cosine = 1;      ///< NaN where one side is not finite, 0 where one is zero
  double ulp = 0;         ///< max of |Δ| in units in the last place of the stored type, at the larger of both values;
                          ///< of codes: in steps of them
  double nonFinite = 0;   ///< share that is infinite or NaN where something else is expected, or finite where that is
  double saturated = 0;   ///< share that stands at the end of the stored type's range, where another value is expected;
                          ///< of codes: at the first or last code, where what is expected is beyond
  double underflowed = 0;        ///< share that became zero where another value is expected
  double expectedNonFinite = 0;  ///< share where infinite or NaN is expected: no number says anything of it
  bool codes = false;            ///< it stands as codes, and numbers are those that they stand for
  bool operator==(const TensorError&) const = default;
  /// Some element is expected to be a number, or is one: else the numbers above say nothing.
  bool tells() const { return elements == 0 || expectedNonFinite < 1 || nonFinite > 0; }
};
/// max|Δ| over rms; infinite where something became infinite or NaN, or is finite where that was expected.
double largestOverRms(const TensorError& error);
/// The number that an error is judged by: max|Δ| over rms; of codes, where rounding alone takes more for single
/// elements, the relative L2.
double judgedBy(const TensorError& error);
/// How many times `bound` that number is; beyond 1 it is wrong. Infinite where something became infinite or NaN, or
/// differs where `bound` is 0.
double ofAllowed(const TensorError& error, double bound);
Json toJson(const TensorError& error);
/// The inverse; errors name the field.
Result<TensorError> tensorErrorFromJson(const Json& json);

/// Adds up pairs of tensors to a TensorError.
class TensorErrorSums {
 public:
  /// `stored`: the type that `actual` stands in memory at. Both hold numbers, of equal extents.
  void add(const Tensor& actual, const Tensor& expected, DataType stored);
  /// The same of codes. Errors: those of numbersOf().
  Status addCodes(const Tensor& codes, const Tensor& expected, const CodeMeaning& meaning, const StopToken& stop = {});
  void add(const TensorErrorSums& other);
  bool empty() const { return m_elements == 0; }
  TensorError error() const;
  /// Whether `actual` can be compared with `expected` element by element.
  static bool comparable(const Tensor& actual, const Tensor& expected);

 private:
  template <class Number, class Stored>
  void addElements(std::span<const Number> actual, std::span<const Number> expected, const Stored& stored);

  bool m_codes = false;
  std::int64_t m_elements = 0, m_nonFinite = 0, m_expectedNonFinite = 0, m_saturated = 0, m_underflowed = 0,
               m_compared = 0;
  double m_maxAbs = 0, m_ulp = 0;
  double m_squares = 0, m_expectedSquares = 0, m_actualSquares = 0, m_products = 0;
};

}  // namespace fusescope
