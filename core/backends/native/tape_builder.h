#pragma once

#include <functional>
#include <map>
#include <optional>

#include "backends/native/pointwise_step.h"
#include "ir/graph.h"

namespace fusescope::native {

/// Whether nodes of this operator can be instructions of a tape, given f32 or bool operands.
bool hasTapeOperator(const Node& node);

/// Translates nodes to instructions, one after another.
class TapeBuilder {
 public:
  /// `constantNumber` gives the value of a value that is a constant of one element.
  explicit TapeBuilder(std::function<std::optional<float>(ValueId)> constantNumber)
      : m_constantNumber(std::move(constantNumber)) {}
  /// The register of a value; a new one if it has none yet (then it is an input or a constant number).
  std::uint16_t registerOf(ValueId value);
  void add(const Node& node);

  /// Values that were read before any node produced them, and are no constant numbers.
  const std::vector<std::pair<ValueId, std::uint16_t>>& inputs() const { return m_inputs; }
  /// Fills in code, numbers and the count of registers, reusing those of values that are not in `kept` after their
  /// last use.
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

  std::function<std::optional<float>(ValueId)> m_constantNumber;
  std::map<ValueId, std::uint16_t> m_values;
  std::map<float, std::uint16_t> m_numbers;
  std::vector<std::pair<std::uint16_t, float>> m_numberList;
  std::vector<std::pair<ValueId, std::uint16_t>> m_inputs;
  std::vector<TapeInstruction> m_code;
  std::uint16_t m_registers = 0;
};

}  // namespace fusescope::native
