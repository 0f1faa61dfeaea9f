// Vector functions shared by the Highway kernels; compiled once per instruction set.
#if defined(FUSESCOPE_NATIVE_SIMD_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSESCOPE_NATIVE_SIMD_MATH_INL_H
#undef FUSESCOPE_NATIVE_SIMD_MATH_INL_H
#else
#define FUSESCOPE_NATIVE_SIMD_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;

/// Loads the first `count` elements at `from`, fewer than a vector has; the other lanes are zero. Nothing beyond them
/// is read.
HWY_INLINE VF loadFirst(F32 d, const float* from, std::int64_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
#else  // masked loads of older CPUs read whole vectors
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)] = {};
  for (std::int64_t i = 0; i < count; ++i) some[i] = from[i];
  return hn::Load(d, some);
#endif
}

/// Writes the first `count` elements; nothing beyond them is written.
HWY_INLINE void storeFirst(VF v, F32 d, float* to, std::int64_t count) {
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
}

/// Calculates e^x for every x: infinity above the range, 0 below it, NaN for NaN.
HWY_INLINE VF expOf(F32 d, VF x) {
  const VF result = hn::Exp(d, hn::Min(x, hn::Set(d, 89.0f)));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// Calculates e^x - 1, with the same relative error near 0 as elsewhere: infinity above the range, -1 far below it, NaN
/// for NaN.
HWY_INLINE VF expm1Of(F32 d, VF x) {
  const VF result = hn::Expm1(d, hn::Min(x, hn::Set(d, 89.0f)));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// These return the smaller or the larger of two numbers, and NaN if either is NaN. What the processor's own
/// instructions return for NaN depends on which operand it is.
HWY_INLINE VF minimumOf(VF a, VF b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Min(a, b)));
}
HWY_INLINE VF maximumOf(VF a, VF b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Max(a, b)));
}

/// These limit `x` to at least `least`, or to at most `most`. They return NaN unchanged, and a bound that is NaN has no
/// effect.
HWY_INLINE VF atLeast(VF x, VF least) {
  return hn::IfThenElse(hn::Lt(x, least), least, x);
}
HWY_INLINE VF atMost(VF x, VF most) {
  return hn::IfThenElse(hn::Gt(x, most), most, x);
}

/// Returns whether one of the lanes is NaN.
HWY_INLINE bool anyNaN(F32 d, VF x) {
  return !hn::AllFalse(d, hn::IsNaN(x));
}

/// Calculates e^x for x <= 0, as a softmax needs it: 0 below the smallest normal number, NaN for NaN. The relative
/// error is below 2e-7.
HWY_INLINE VF expOfNegative(F32 d, VF x) {
  const hn::RebindToSigned<F32> integers;
  const VF n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  VF r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  VF p = hn::Set(d, 1.9875691500e-4f);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
  const VF fraction = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
  const auto exponent = hn::Add(hn::ConvertTo(integers, n), hn::Set(integers, 127));
  const VF power = hn::BitCast(d, hn::ShiftLeft<23>(exponent));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), hn::Mul(fraction, power));
}

/// Calculates the natural logarithm: -infinity at 0, NaN below it, infinity at infinity.
HWY_INLINE VF logOf(F32 d, VF x) {
  const VF infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const VF nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  VF result = hn::Log(d, x);
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), result, nan);
}

/// Calculates the error function by a rational minimax approximation on [-4, 4] (odd polynomial over even polynomial),
/// as in Eigen. The absolute error is below 2e-7, and so is the relative error near 0: the quotient is calculated
/// first, because a product with a number close to the smallest normal one would be denormal.
HWY_INLINE VF erfOf(F32 d, VF value) {
  const VF x = hn::Max(hn::Min(value, hn::Set(d, 4.0f)), hn::Set(d, -4.0f));
  const VF x2 = hn::Mul(x, x);
  VF p = hn::Set(d, -2.72614225801306e-10f);
  p = hn::MulAdd(p, x2, hn::Set(d, 2.77068142495902e-08f));
  p = hn::MulAdd(p, x2, hn::Set(d, -2.10102402082508e-06f));
  p = hn::MulAdd(p, x2, hn::Set(d, -5.69250639462346e-05f));
  p = hn::MulAdd(p, x2, hn::Set(d, -7.34990630326855e-04f));
  p = hn::MulAdd(p, x2, hn::Set(d, -2.95459980854025e-03f));
  p = hn::MulAdd(p, x2, hn::Set(d, -1.60960333262415e-02f));
  VF q = hn::Set(d, -1.45660718464996e-05f);
  q = hn::MulAdd(q, x2, hn::Set(d, -2.13374055278905e-04f));
  q = hn::MulAdd(q, x2, hn::Set(d, -1.68282697438203e-03f));
  q = hn::MulAdd(q, x2, hn::Set(d, -7.37332916720468e-03f));
  q = hn::MulAdd(q, x2, hn::Set(d, -1.42647390514189e-02f));
  const VF one = hn::Set(d, 1.0f);
  const VF result = hn::Max(hn::Min(hn::Mul(x, hn::Div(p, q)), one), hn::Neg(one));
  return hn::IfThenElse(hn::IsNaN(value), value, result);
}

HWY_INLINE VF sigmoidOf(F32 d, VF x) {
  const VF one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, expOf(d, hn::Neg(x))));
}

HWY_INLINE VF tanhOf(F32 d, VF x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
}

/// Calculates log(1 + e^x) without overflow: max(x, 0) + log1p(e^-|x|).
HWY_INLINE VF softplusOf(F32 d, VF x) {
  const VF tail = hn::Log1p(d, expOf(d, hn::Neg(hn::Abs(x))));
  return hn::Add(atLeast(x, hn::Zero(d)), tail);
}

/// Calculates x · tanh(log(1 + e^x)), where the hyperbolic tangent is n / (n + 2) with n = e^x · (e^x + 2): there is no
/// cancellation if x is far below 0.
HWY_INLINE VF mishOf(F32 d, VF x) {
  const VF two = hn::Set(d, 2.0f), most = hn::Set(d, 20.0f);  // beyond it the tangent is 1
  const VF e = expOf(d, hn::Min(x, most));
  const VF n = hn::Mul(e, hn::Add(e, two));
  return hn::IfThenElse(hn::Gt(x, most), x, hn::Mul(x, hn::Div(n, hn::Add(n, two))));
}

/// Calculates x · Φ(x), where Φ is the normal distribution. Below 0 it is e^(-x²/2) · R(|x|), with a polynomial in t =
/// 1 / (1 + 0.35 |x|) for R / t, so that there is no cancellation far below 0; the rounding error of x² is included.
/// The relative error is below 1e-6.
HWY_INLINE VF geluOf(F32 d, VF x) {
  const VF one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  const VF a = hn::Min(hn::Abs(x), hn::Set(d, 20.0f));  // beyond it Φ is 0 or 1
  const VF square = hn::Mul(a, a), rest = hn::MulSub(a, a, square);
  const VF t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.35f), a, one));
  VF p = hn::Set(d, -0.0295607038f);
  for (const float next : {0.145931363f, -0.25962624f, 0.163466826f, -0.0259295069f, 0.106638066f, 0.119564265f,
                           0.139896333f, 0.139619589f})
    p = hn::MulAdd(p, t, hn::Set(d, next));
  const VF power = hn::Exp(d, hn::Neg(hn::Mul(half, square)));
  const VF below = hn::Mul(hn::Mul(power, hn::NegMulAdd(half, rest, one)), hn::Mul(t, p));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, hn::Sub(one, below)));
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
