#pragma once

#include <functional>
#include <map>
#include <optional>

#include "backends/native/steps/pointwise_step.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Returns whether nodes of this operator can be instructions of a tape, given f32 or bool operands.
bool hasTapeOperator(const Node& node);
/// Returns whether a node of int32 can be one: a sum, or a Cast to f32.
bool isIntegerTape(const Node& node, DataType from, DataType to);
/// Returns whether the node is a QuantizeLinear or DequantizeLinear with int8 or uint8 on one side.
bool isQuantization(const Node& node);

/// Translates nodes to instructions, one node after another.
class TapeBuilder {
 public:
  /// `constantNumber` returns the number in a constant of one float or truth value, `rankOf` the number of axes of a
  /// value, `typeOf` its type.
  TapeBuilder(std::function<std::optional<float>(ValueId)> constantNumber, std::function<std::size_t(ValueId)> rankOf,
              std::function<DataType(ValueId)> typeOf)
      : m_constantNumber(std::move(constantNumber)), m_rankOf(std::move(rankOf)), m_typeOf(std::move(typeOf)) {}
  /// Returns the register of a value. A value that has none yet gets a new one, and is then an input or a constant
  /// number.
  std::uint16_t registerOf(ValueId value);
  /// Adds a node; `type` is the type of its result in memory.
  void add(const Node& node, DataType type);
  /// Rounds a value that was added before to the narrow float `type`.
  void round(ValueId value, DataType type);
  /// Adds the scaling of the sums of `root`, a convolution or product of codes, in place of the node itself.
  void addScaledSums(const Node& root, bool hasBias);

  /// A value that was read before any node produced it, and that is not a constant number. Scales and zero points of
  /// one axis have `trailing` axes after it. Factor and Shift are the numbers by which `norm`, a BatchNormalization,
  /// multiplies and which it adds for each channel, computed from its parameters; Sums, SumScale and SumBias are those
  /// of `norm`, a convolution or product of codes.
  struct Input {
    enum class Part { Value, Factor, Shift, Sums, SumScale, SumBias };
    ValueId value;
    std::uint16_t reg = 0;
    std::size_t trailing = 0;
    Part part = Part::Value;
    NodeId norm;
  };
  const std::vector<Input>& inputs() const { return m_inputs; }
  /// Writes code, numbers and the number of registers. Registers of values that are not in `kept` are reused after
  /// their last use.
  void finish(TapeProgram& program, const std::vector<ValueId>& kept);

 private:
  std::uint16_t number(float value);
  std::uint16_t fresh() { return m_registers++; }
  void emit(TapeOp op, std::uint16_t target, std::uint16_t a, std::uint16_t b = 0, std::uint16_t c = 0, float p = 0,
            float q = 0);
  void addBinary(const Node& node, TapeOp op);
  void addUnary(const Node& node, TapeOp op);
  void addPow(const Node& node, std::uint16_t target);
  void addClip(const Node& node, std::uint16_t target);
  void addQuantize(const Node& node, DataType type, std::uint16_t target);
  void addDequantize(const Node& node, std::uint16_t target);
  std::uint16_t zeroOf(const Node& node);
  void addBatchNorm(const Node& node, std::uint16_t target);
  std::uint16_t alongAxis(const Node& node, std::size_t operand);

  std::function<std::optional<float>(ValueId)> m_constantNumber;
  std::function<std::size_t(ValueId)> m_rankOf;
  std::function<DataType(ValueId)> m_typeOf;
  std::map<std::pair<ValueId, std::size_t>, std::uint16_t> m_alongAxis;
  std::map<ValueId, std::uint16_t> m_values;
  std::map<float, std::uint16_t> m_numbers;
  std::vector<std::pair<std::uint16_t, float>> m_numberList;
  std::vector<Input> m_inputs;
  std::vector<TapeInstruction> m_code;
  std::uint16_t m_registers = 0;
};

}  // namespace fusescope::native
