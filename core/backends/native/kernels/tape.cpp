#include "backends/native/kernels/tape.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/tape.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

// Processes whole vectors first. The remaining elements are read and written under a mask, so that a register may be
// any part of a tensor.
template <class Function>
HWY_INLINE void eachOne(const TapeInstruction& at, float* const* registers, std::size_t count, Function function) {
  const F32 d;
  const float* a = registers[at.a];
  float* target = registers[at.target];
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(function(hn::LoadU(d, a + i)), d, target + i);
  if (i == count) return;
  const auto rest = static_cast<std::int64_t>(count - i);
  storeFirst(function(loadFirst(d, a + i, rest)), d, target + i, rest);
}

template <class Function>
HWY_INLINE void eachTwo(const TapeInstruction& at, float* const* registers, std::size_t count, Function function) {
  const F32 d;
  const float* a = registers[at.a];
  const float* b = registers[at.b];
  float* target = registers[at.target];
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(function(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, target + i);
  if (i == count) return;
  const auto rest = static_cast<std::int64_t>(count - i);
  storeFirst(function(loadFirst(d, a + i, rest), loadFirst(d, b + i, rest)), d, target + i, rest);
}

template <class Function>
HWY_INLINE void eachThree(const TapeInstruction& at, float* const* registers, std::size_t count, Function function) {
  const F32 d;
  const float* a = registers[at.a];
  const float* b = registers[at.b];
  const float* c = registers[at.c];
  float* target = registers[at.target];
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(function(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, target + i);
  if (i == count) return;
  const auto rest = static_cast<std::int64_t>(count - i);
  storeFirst(function(loadFirst(d, a + i, rest), loadFirst(d, b + i, rest), loadFirst(d, c + i, rest)), d, target + i,
             rest);
}

/// Limits x to [least, most]. NaN becomes `least`.
HWY_INLINE VF saturated(VF x, VF least, VF most) {
  return hn::IfThenElse(hn::Gt(x, least), hn::Min(x, most), least);
}

void runTernary(const TapeInstruction& at, float* const* registers, std::size_t count) {
  const F32 d;
  const VF zero = hn::Zero(d);
  const VF least = hn::Set(d, at.p);
  const VF most = hn::Set(d, at.q);
  const auto each = [&](auto function) HWY_ATTR { eachThree(at, registers, count, function); };
  switch (at.op) {
    case TapeOp::MulAdd:
      return each([](VF a, VF b, VF c) HWY_ATTR { return hn::MulAdd(a, b, c); });
    case TapeOp::Quantize:
      return each([=](VF a, VF b, VF c)
                      HWY_ATTR { return saturated(hn::Add(hn::Round(hn::Div(a, b)), c), least, most); });
    case TapeOp::Dequantize:
      return each([](VF a, VF b, VF c) HWY_ATTR { return hn::Mul(hn::Sub(a, b), c); });
    default:
      return each([=](VF a, VF b, VF c) HWY_ATTR { return hn::IfThenElse(hn::Eq(a, zero), c, b); });
  }
}

void runBinary(const TapeInstruction& at, float* const* registers, std::size_t count) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f);
  const VF zero = hn::Zero(d);
  const auto each = [&](auto function) HWY_ATTR { eachTwo(at, registers, count, function); };
  switch (at.op) {
    case TapeOp::Add:
      return each([](VF a, VF b) HWY_ATTR { return hn::Add(a, b); });
    case TapeOp::Sub:
      return each([](VF a, VF b) HWY_ATTR { return hn::Sub(a, b); });
    case TapeOp::Mul:
      return each([](VF a, VF b) HWY_ATTR { return hn::Mul(a, b); });
    case TapeOp::Div:
      return each([](VF a, VF b) HWY_ATTR { return hn::Div(a, b); });
    case TapeOp::Min:
      return each([](VF a, VF b) HWY_ATTR { return minimumOf(a, b); });
    case TapeOp::Max:
      return each([](VF a, VF b) HWY_ATTR { return maximumOf(a, b); });
    case TapeOp::AtLeast:
      return each([](VF a, VF b) HWY_ATTR { return atLeast(a, b); });
    case TapeOp::AtMost:
      return each([](VF a, VF b) HWY_ATTR { return atMost(a, b); });
    case TapeOp::Less:
      return each([=](VF a, VF b) HWY_ATTR { return hn::IfThenElseZero(hn::Lt(a, b), one); });
    case TapeOp::LessOrEqual:
      return each([=](VF a, VF b) HWY_ATTR { return hn::IfThenElseZero(hn::Le(a, b), one); });
    case TapeOp::Greater:
      return each([=](VF a, VF b) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(a, b), one); });
    case TapeOp::GreaterOrEqual:
      return each([=](VF a, VF b) HWY_ATTR { return hn::IfThenElseZero(hn::Ge(a, b), one); });
    case TapeOp::Equal:
      return each([=](VF a, VF b) HWY_ATTR { return hn::IfThenElseZero(hn::Eq(a, b), one); });
    case TapeOp::And:
      return each([](VF a, VF b) HWY_ATTR { return hn::Mul(a, b); });
    case TapeOp::Or:
      return each([](VF a, VF b) HWY_ATTR { return hn::Max(a, b); });
    case TapeOp::Xor:
      return each([=](VF a, VF b) HWY_ATTR { return hn::IfThenElseZero(hn::Ne(a, b), one); });
    case TapeOp::AddIntegers:
      return each([=](VF a, VF b) HWY_ATTR {
        const hn::RebindToSigned<F32> integers;
        return hn::BitCast(d, hn::Add(hn::BitCast(integers, a), hn::BitCast(integers, b)));
      });
    case TapeOp::PRelu:
      return each([=](VF a, VF b) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, zero), hn::Mul(a, b), a); });
    default:
      break;
  }
  for (std::size_t i = 0; i < count; ++i) {  // Pow
    registers[at.target][i] = std::pow(registers[at.a][i], registers[at.b][i]);
  }
}

void runActivation(const TapeInstruction& at, float* const* registers, std::size_t count) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f);
  const VF zero = hn::Zero(d);
  const VF p = hn::Set(d, at.p);
  const VF q = hn::Set(d, at.q);
  const auto each = [&](auto function) HWY_ATTR { eachOne(at, registers, count, function); };
  switch (at.op) {
    case TapeOp::Relu:
      return each([=](VF x) HWY_ATTR { return atLeast(x, zero); });
    case TapeOp::LeakyRelu:
      return each([=](VF x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(x, p), x); });
    case TapeOp::Elu:
      return each([=](VF x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(p, expm1Of(d, x)), x); });
    case TapeOp::Selu:
      return each([=](VF x)
                      HWY_ATTR { return hn::Mul(q, hn::IfThenElse(hn::Lt(x, zero), hn::Mul(p, expm1Of(d, x)), x)); });
    case TapeOp::Celu:
      return each([=](VF x)
                      HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(p, expm1Of(d, hn::Div(x, p))), x); });
    case TapeOp::Softplus:
      return each([=](VF x) HWY_ATTR { return softplusOf(d, x); });
    case TapeOp::Softsign:
      return each([=](VF x) HWY_ATTR { return hn::Div(x, hn::Add(one, hn::Abs(x))); });
    case TapeOp::HardSigmoid:
      return each([=](VF x) HWY_ATTR { return atLeast(atMost(hn::MulAdd(p, x, q), one), zero); });
    case TapeOp::HardSwish:
      return each([=](VF x) HWY_ATTR { return hn::Mul(x, atLeast(atMost(hn::MulAdd(p, x, q), one), zero)); });
    case TapeOp::Saturate:
      return each([=](VF x) HWY_ATTR { return saturated(x, p, q); });
    case TapeOp::ThresholdedRelu:
      return each([=](VF x) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(x, p), x); });
    case TapeOp::Gelu:
      return each([=](VF x) HWY_ATTR { return geluOf(d, x); });
    case TapeOp::GeluTanh:
      return each([=](VF x) HWY_ATTR {
        const VF cube = hn::Mul(hn::Mul(x, x), hn::Mul(x, hn::Set(d, 0.044715f)));
        const VF inner = hn::Mul(hn::Set(d, 0.79788456080286536f), hn::Add(x, cube));
        return hn::Mul(x, sigmoidOf(d, hn::Add(inner, inner)));  // (1 + tanh(t)) / 2 = 1 / (1 + e^-2t)
      });
    case TapeOp::Mish:
      return each([=](VF x) HWY_ATTR { return mishOf(d, x); });
    case TapeOp::Swish:
      return each([=](VF x) HWY_ATTR { return hn::Mul(x, sigmoidOf(d, hn::Mul(p, x))); });
    default:
      return;
  }
}

void runUnary(const TapeInstruction& at, float* const* registers, std::size_t count) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f);
  const VF zero = hn::Zero(d);
  const auto each = [&](auto function) HWY_ATTR { eachOne(at, registers, count, function); };
  switch (at.op) {
    case TapeOp::Copy:
      return each([](VF x) HWY_ATTR { return x; });
    case TapeOp::Neg:
      return each([](VF x) HWY_ATTR { return hn::Neg(x); });
    case TapeOp::Abs:
      return each([](VF x) HWY_ATTR { return hn::Abs(x); });
    case TapeOp::Exp:
      return each([=](VF x) HWY_ATTR { return expOf(d, x); });
    case TapeOp::Log:
      return each([=](VF x) HWY_ATTR { return logOf(d, x); });
    case TapeOp::Sqrt:
      return each([](VF x) HWY_ATTR { return hn::Sqrt(x); });
    case TapeOp::Reciprocal:
      return each([=](VF x) HWY_ATTR { return hn::Div(one, x); });
    case TapeOp::Sign:
      return each([=](VF x) HWY_ATTR {
        const VF sign = hn::IfThenElse(hn::Gt(x, zero), one, hn::IfThenElse(hn::Lt(x, zero), hn::Neg(one), x));
        return sign;
      });
    case TapeOp::Floor:
      return each([](VF x) HWY_ATTR { return hn::Floor(x); });
    case TapeOp::Ceil:
      return each([](VF x) HWY_ATTR { return hn::Ceil(x); });
    case TapeOp::Round:
      return each([](VF x) HWY_ATTR { return hn::Round(x); });
    case TapeOp::Erf:
      return each([=](VF x) HWY_ATTR { return erfOf(d, x); });
    case TapeOp::Tanh:
      return each([=](VF x) HWY_ATTR { return tanhOf(d, x); });
    case TapeOp::Sigmoid:
      return each([=](VF x) HWY_ATTR { return sigmoidOf(d, x); });
    case TapeOp::Not:
      return each([=](VF x) HWY_ATTR { return hn::Sub(one, x); });
    case TapeOp::IsNaN:
      return each([=](VF x) HWY_ATTR { return hn::IfThenElseZero(hn::IsNaN(x), one); });
    case TapeOp::IsInf:
      return each([=](VF x) HWY_ATTR {
        const VF infinity = hn::Set(d, std::numeric_limits<float>::infinity());
        return hn::IfThenElseZero(hn::Eq(hn::Abs(x), infinity), one);
      });
    case TapeOp::IntegerToFloat:
      return each([=](VF x) HWY_ATTR { return hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<F32>(), x)); });
    case TapeOp::ToBool:
      return each([=](VF x) HWY_ATTR { return hn::IfThenElseZero(hn::Ne(x, zero), one); });
    case TapeOp::ToHalf:
      return roundFloats(DataType::F16, registers[at.a], registers[at.target], count);
    case TapeOp::ToBrain:
      return roundFloats(DataType::BF16, registers[at.a], registers[at.target], count);
    case TapeOp::Scalar:
      for (std::size_t i = 0; i < count; ++i) registers[at.target][i] = at.scalar(registers[at.a][i]);
      return;
    default:
      return runActivation(at, registers, count);
  }
}

}  // namespace

void runTapeHere(const TapeInstruction* code, std::size_t length, float* const* registers, std::size_t count) {
  for (std::size_t i = 0; i < length; ++i) {
    if (code[i].op >= TapeOp::Where) {
      runTernary(code[i], registers, count);
    } else if (code[i].op <= TapeOp::PRelu) {
      runBinary(code[i], registers, count);
    } else {
      runUnary(code[i], registers, count);
    }
  }
}

void fillHere(float* target, std::size_t count, float value) {
  const F32 d;
  const VF v = hn::Set(d, value);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(v, d, target + i);
  if (i < count) storeFirst(v, d, target + i, static_cast<std::int64_t>(count - i));
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(runTapeHere);
HWY_EXPORT(fillHere);

void runTape(std::span<const TapeInstruction> code, float* const* registers, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(runTapeHere)(code.data(), code.size(), registers, count);
}

void fill(float* target, std::size_t count, float value) {
  HWY_DYNAMIC_DISPATCH(fillHere)(target, count, value);
}

}  // namespace fusescope::native
#endif
