#pragma once

#include <cstdint>

#include "base/json_fwd.h"
#include "base/result.h"
#include "ir/tensor.h"
#include "verify/code_meaning.h"

namespace fusescope {

/// The error of a tensor, over all elements of all samples. Differences are taken where both sides are finite; if that
/// is nowhere, they are infinite. Fractions are of all elements.
struct TensorError {
  std::int64_t elements = 0;
  double maxAbs = 0;  ///< max|Δ|
  /// MaxAbs divided by the rms of the expected values; infinite if that is 0 and something differs.
  double maxOverRms = 0;
  double relL2 = 0;   ///< |Δ|₂ divided by |expected|₂; infinite if that is 0 and something differs
  double cosine = 1;  ///< NaN if a side is not finite, 0 if one is zero
  /// Maximum of |Δ| in units in the last place of the stored type, at the larger of both values; for codes, in steps of
  /// codes.
  double ulp = 0;
  /// Fraction of elements that are infinite or NaN and should not be, or are finite and should not be.
  double nonFinite = 0;
  /// Fraction of elements at the end of the stored type's range that should have another value; for codes, at the first
  /// or last code although the expected value is beyond it.
  double saturated = 0;
  double underflowed = 0;        ///< fraction of elements that became zero and should have another value
  double expectedNonFinite = 0;  ///< fraction of elements that should be infinite or NaN; no error is computed for them
  bool codes = false;  ///< the tensor consists of codes, and errors are those of the numbers that they represent
  bool operator==(const TensorError&) const = default;
  /// Returns whether the numbers above have a meaning: an element is or should be finite.
  bool isMeaningful() const { return elements == 0 || expectedNonFinite < 1 || nonFinite > 0; }
};
/// Returns max|Δ| divided by the rms. It is infinite if something became infinite or NaN, or is finite and should not
/// be.
double largestOverRms(const TensorError& error);
/// Returns the number by which an error is judged: max|Δ| divided by the rms or, for codes, the relative L2 error,
/// because rounding alone gives single elements a larger error.
double judgedError(const TensorError& error);
/// Returns this number divided by `bound`; above 1, the tensor is wrong. It is infinite if something became infinite or
/// NaN, or if something differs and `bound` is 0.
double fractionOfBound(const TensorError& error, double bound);
Json toJson(const TensorError& error);
/// Reads this form. Errors name the field.
Result<TensorError> tensorErrorFromJson(const Json& json);

/// Sums up pairs of tensors for a TensorError.
class TensorErrorSums {
 public:
  /// `stored` is the type of `actual` in memory. Both tensors contain numbers and have equal extents.
  void add(const Tensor& actual, const Tensor& expected, DataType stored);
  /// Does the same for codes. Errors are those of numbersOf().
  Status addCodes(const Tensor& codes, const Tensor& expected, const CodeMeaning& meaning, const StopToken& stop = {});
  void add(const TensorErrorSums& other);
  bool empty() const { return m_elements == 0; }
  TensorError error() const;
  /// Returns whether `actual` can be compared with `expected` element by element.
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
