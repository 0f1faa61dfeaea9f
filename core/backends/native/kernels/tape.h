#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fusescope::native {

/// The number of elements that a tape processes at a time. Its registers are arrays of so many floats, so that they
/// stay in the L1 cache.
inline constexpr std::size_t kTapeTile = 512;

/// The operations of a tape. Truth values are 1 and 0; an int32 is stored as its bits. `p` and `q` are the parameters
/// of the instruction.
enum class TapeOp : std::uint8_t {
  // two operands
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  AtLeast,  ///< max(a, b); a bound b that is NaN has no effect
  AtMost,
  Pow,
  Less,
  LessOrEqual,
  Greater,
  GreaterOrEqual,
  Equal,
  And,
  Or,
  Xor,
  AddIntegers,  ///< adds int32, whose bits are in the registers; wraps around
  PRelu,
  // one operand
  Copy,
  Neg,
  Abs,
  Exp,
  Log,
  Sqrt,
  Reciprocal,
  Sign,
  Floor,
  Ceil,
  Round,
  Erf,
  Tanh,
  Sigmoid,
  Relu,
  LeakyRelu,
  Elu,
  Selu,
  Celu,
  Softplus,
  Softsign,
  HardSigmoid,
  HardSwish,
  Saturate,  ///< clamps to p … q; NaN becomes p
  ThresholdedRelu,
  Gelu,
  GeluTanh,
  Mish,
  Swish,
  Not,
  IsNaN,
  IsInf,
  ToBool,
  IntegerToFloat,  ///< converts int32 to f32
  ToHalf,          ///< rounds to f16 and stores the result as f32
  ToBrain,         ///< rounds to bf16 and stores the result as f32
  Scalar,
  // three operands
  Where,       ///< a ? b : c
  MulAdd,      ///< a · b + c
  Quantize,    ///< round(a / b) + c, clamped to p … q; NaN becomes p
  Dequantize,  ///< (a - b) · c
};

/// registers[target] = op(registers[a], registers[b], registers[c]), element by element.
struct TapeInstruction {
  TapeOp op = TapeOp::Copy;
  std::uint16_t target = 0, a = 0, b = 0, c = 0;
  float p = 0, q = 0;
  float (*scalar)(float) = nullptr;  ///< the function of TapeOp::Scalar
};

/// Runs a tape over `count` elements. Registers may be parts of tensors: nothing beyond `count` is accessed. A target
/// may be one of its own operands.
void runTape(std::span<const TapeInstruction> code, float* const* registers, std::size_t count);

/// Sets target[0 … count) to `value`.
void fill(float* target, std::size_t count, float value);

/// A truth value in memory.
struct TruthByte {
  std::uint8_t value;
};

// Conversions of `count` elements between memory and registers. Integers must fit their type.
void toFloats(const TruthByte* source, float* target, std::size_t count);
void toFloats(const std::int8_t* source, float* target, std::size_t count);
void toFloats(const std::uint8_t* source, float* target, std::size_t count);
void fromFloats(const float* source, TruthByte* target, std::size_t count);
void fromFloats(const float* source, std::int8_t* target, std::size_t count);
void fromFloats(const float* source, std::uint8_t* target, std::size_t count);

}  // namespace fusescope::native
