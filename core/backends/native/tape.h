#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fusescope::native {

/// Elements that a tape works on at a time: its registers are arrays of this many floats, so that they stay in L1.
inline constexpr std::size_t kTapeTile = 512;

/// Operations of a tape. Truth values are 1 and 0; int32 is held as its bits. `p` and `q` are the instruction's
/// parameters.
enum class TapeOp : std::uint8_t {
  // two operands
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  AtLeast,  ///< a, but no less than b; a bound that is not a number bounds nothing
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
  AddIntegers,  ///< of int32, whose bits the registers hold; wraps
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
  Saturate,  ///< p … q; what is not a number becomes p
  ThresholdedRelu,
  Gelu,
  GeluTanh,
  Mish,
  Swish,
  Not,
  IsNaN,
  IsInf,
  ToBool,
  IntegerToFloat,  ///< from int32
  ToHalf,          ///< rounded to f16, as f32
  ToBrain,         ///< rounded to bf16, as f32
  Scalar,
  // three operands
  Where,       ///< a ? b : c
  MulAdd,      ///< a · b + c
  Quantize,    ///< round(a / b) + c within p … q; what is not a number becomes p
  Dequantize,  ///< (a - b) · c
};

/// registers[target] = op(registers[a], registers[b], registers[c]), element by element.
struct TapeInstruction {
  TapeOp op = TapeOp::Copy;
  std::uint16_t target = 0, a = 0, b = 0, c = 0;
  float p = 0, q = 0;
  float (*scalar)(float) = nullptr;  ///< TapeOp::Scalar
};

/// Evaluates a tape over `count` elements. Registers may be stretches of tensors: nothing behind `count` is touched. A
/// target may be one of its own operands.
void runTape(std::span<const TapeInstruction> code, float* const* registers, std::size_t count);

/// target[0 … count) = value
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
