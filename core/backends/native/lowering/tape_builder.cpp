#include "backends/native/lowering/tape_builder.h"

#include <cmath>
#include <limits>
#include <set>

#include "ir/graph.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kOnnxBool = 9;  ///< TensorProto.BOOL

using Names = std::map<std::string, TapeOp, std::less<>>;

/// Operators of two or more operands, which are folded from the left.
const Names& binaryOperators() {
  static const Names kNames = {{"Add", TapeOp::Add},         {"Sub", TapeOp::Sub},
                               {"Mul", TapeOp::Mul},         {"Div", TapeOp::Div},
                               {"Min", TapeOp::Min},         {"Max", TapeOp::Max},
                               {"Less", TapeOp::Less},       {"LessOrEqual", TapeOp::LessOrEqual},
                               {"Greater", TapeOp::Greater}, {"GreaterOrEqual", TapeOp::GreaterOrEqual},
                               {"Equal", TapeOp::Equal},     {"And", TapeOp::And},
                               {"Or", TapeOp::Or},           {"Xor", TapeOp::Xor},
                               {"PRelu", TapeOp::PRelu},     {"Sum", TapeOp::Add},
                               {"Mean", TapeOp::Add}};
  return kNames;
}

const Names& unaryOperators() {
  static const Names kNames = {{"Identity", TapeOp::Copy},
                               {"Neg", TapeOp::Neg},
                               {"Abs", TapeOp::Abs},
                               {"Exp", TapeOp::Exp},
                               {"Log", TapeOp::Log},
                               {"Sqrt", TapeOp::Sqrt},
                               {"Reciprocal", TapeOp::Reciprocal},
                               {"Sign", TapeOp::Sign},
                               {"Floor", TapeOp::Floor},
                               {"Ceil", TapeOp::Ceil},
                               {"Round", TapeOp::Round},
                               {"Erf", TapeOp::Erf},
                               {"Tanh", TapeOp::Tanh},
                               {"Sigmoid", TapeOp::Sigmoid},
                               {"Relu", TapeOp::Relu},
                               {"LeakyRelu", TapeOp::LeakyRelu},
                               {"Elu", TapeOp::Elu},
                               {"Selu", TapeOp::Selu},
                               {"Celu", TapeOp::Celu},
                               {"Softplus", TapeOp::Softplus},
                               {"Softsign", TapeOp::Softsign},
                               {"HardSigmoid", TapeOp::HardSigmoid},
                               {"HardSwish", TapeOp::HardSwish},
                               {"ThresholdedRelu", TapeOp::ThresholdedRelu},
                               {"Gelu", TapeOp::Gelu},
                               {"Mish", TapeOp::Mish},
                               {"Swish", TapeOp::Swish},
                               {"Not", TapeOp::Not},
                               {"IsNaN", TapeOp::IsNaN},
                               {"IsInf", TapeOp::IsInf},
                               {"Cast", TapeOp::Copy}};
  return kNames;
}

using Scalar = float (*)(float);

const std::map<std::string, Scalar, std::less<>>& scalarOperators() {
  static const std::map<std::string, Scalar, std::less<>> kNames = {
      {"Sin", [](float x) { return std::sin(x); }},     {"Cos", [](float x) { return std::cos(x); }},
      {"Tan", [](float x) { return std::tan(x); }},     {"Asin", [](float x) { return std::asin(x); }},
      {"Acos", [](float x) { return std::acos(x); }},   {"Atan", [](float x) { return std::atan(x); }},
      {"Sinh", [](float x) { return std::sinh(x); }},   {"Cosh", [](float x) { return std::cosh(x); }},
      {"Asinh", [](float x) { return std::asinh(x); }}, {"Acosh", [](float x) { return std::acosh(x); }},
      {"Atanh", [](float x) { return std::atanh(x); }}};
  return kNames;
}

}  // namespace

bool hasTapeOperator(const Node& node) {
  if (!node.domain.empty() || node.outputs.size() != 1) return false;
  if (node.op == "IsInf") {
    return node.intAttribute("detect_positive", 1) != 0 && node.intAttribute("detect_negative", 1) != 0;
  }
  return binaryOperators().contains(node.op) || unaryOperators().contains(node.op) ||
         scalarOperators().contains(node.op) || node.op == "Where" || node.op == "Clip" || node.op == "Pow";
}

bool isIntegerTape(const Node& node, DataType from, DataType to) {
  if (from != DataType::I32) return false;
  return (node.is("Add") && to == DataType::I32) || (node.is("Cast") && to == DataType::F32);
}

bool isQuantization(const Node& node) {
  return node.is("QuantizeLinear") || node.is("DequantizeLinear");
}

std::uint16_t TapeBuilder::number(float value) {
  const bool isNumber = !std::isnan(value);  // NaN cannot be ordered
  if (const auto it = isNumber ? m_numbers.find(value) : m_numbers.end(); it != m_numbers.end()) return it->second;
  const std::uint16_t reg = fresh();
  if (isNumber) m_numbers[value] = reg;
  m_numberList.emplace_back(reg, value);
  return reg;
}

std::uint16_t TapeBuilder::registerOf(ValueId value) {
  if (const auto it = m_values.find(value); it != m_values.end()) return it->second;
  if (const auto known = m_constantNumber(value)) return m_values[value] = number(*known);
  const std::uint16_t reg = fresh();
  m_inputs.push_back({.value = value, .reg = reg});
  return m_values[value] = reg;
}

void TapeBuilder::emit(TapeOp op, std::uint16_t target, std::uint16_t a, std::uint16_t b, std::uint16_t c, float p,
                       float q) {
  m_code.push_back({.op = op, .target = target, .a = a, .b = b, .c = c, .p = p, .q = q});
}

void TapeBuilder::addPow(const Node& node, std::uint16_t target) {
  const std::uint16_t base = registerOf(node.input(0));
  const std::optional<float> exponent = m_constantNumber(node.input(1));
  if (exponent == 2.0f) return emit(TapeOp::Mul, target, base, base);
  if (exponent == 1.0f) return emit(TapeOp::Copy, target, base);
  if (exponent == -1.0f) return emit(TapeOp::Reciprocal, target, base);
  if (exponent == 3.0f) {
    const std::uint16_t square = fresh();
    emit(TapeOp::Mul, square, base, base);
    return emit(TapeOp::Mul, target, square, base);
  }
  emit(TapeOp::Pow, target, base, registerOf(node.input(1)));
}

void TapeBuilder::addClip(const Node& node, std::uint16_t target) {
  std::uint16_t at = registerOf(node.input(0));
  if (node.input(1).valid()) {
    const std::uint16_t low = registerOf(node.input(1));
    const std::uint16_t next = node.input(2).valid() ? fresh() : target;
    emit(TapeOp::AtLeast, next, at, low);
    at = next;
  }
  if (node.input(2).valid()) return emit(TapeOp::AtMost, target, at, registerOf(node.input(2)));
  if (at != target) emit(TapeOp::Copy, target, at);
}

/// Returns the register of a scale or zero point, which is one number or one number for each index of an axis of the
/// data.
std::uint16_t TapeBuilder::alongAxis(const Node& node, std::size_t operand) {
  const ValueId value = node.input(operand);
  if (m_constantNumber(value)) return registerOf(value);
  const std::size_t rank = std::max<std::size_t>(m_rankOf(node.input(0)), 1);
  const std::size_t axis = rank == 1 ? 0 : positiveAxis(node.intAttribute("axis", 1), rank);
  const auto [entry, isNew] = m_alongAxis.emplace(std::pair(value, rank - 1 - axis), m_registers);
  if (isNew) m_inputs.push_back({.value = value, .reg = fresh(), .trailing = rank - 1 - axis});
  return entry->second;
}

// Adds saturate(round(x / scale) + zero point).
void TapeBuilder::addQuantize(const Node& node, DataType type, std::uint16_t target) {
  const std::uint16_t scale = alongAxis(node, 1), zero = zeroOf(node);
  const bool isSigned = type == DataType::I8;
  emit(TapeOp::Quantize, target, registerOf(node.input(0)), scale, zero, isSigned ? -128.0f : 0.0f,
       isSigned ? 127.0f : 255.0f);
}

// Adds (x - zero point) * scale.
void TapeBuilder::addDequantize(const Node& node, std::uint16_t target) {
  const std::uint16_t zero = zeroOf(node);
  emit(TapeOp::Dequantize, target, registerOf(node.input(0)), zero, alongAxis(node, 1));
}

std::uint16_t TapeBuilder::zeroOf(const Node& node) {
  return node.input(2).valid() ? alongAxis(node, 2) : number(0);
}

// Adds x · factor + shift.
void TapeBuilder::addBatchNorm(const Node& node, std::uint16_t target) {
  const std::uint16_t x = registerOf(node.input(0)), factor = fresh(), shift = fresh();
  const std::size_t trailing = m_rankOf(node.input(0)) - 2;
  m_inputs.push_back({.reg = factor, .trailing = trailing, .part = Input::Part::Factor, .norm = node.id});
  m_inputs.push_back({.reg = shift, .trailing = trailing, .part = Input::Part::Shift, .norm = node.id});
  emit(TapeOp::MulAdd, target, x, factor, shift);
}

void TapeBuilder::round(ValueId value, DataType type) {
  const std::uint16_t target = fresh();
  emit(type == DataType::F16 ? TapeOp::ToHalf : TapeOp::ToBrain, target, m_values.at(value));
  m_values[value] = target;
}

// Adds float(sums) · scale + bias.
void TapeBuilder::addScaledSums(const Node& root, bool hasBias) {
  const std::size_t trailing = root.is("Conv") ? m_rankOf(root.outputs[0]) - 2 : 0;
  const auto operand = [&](Input::Part part, std::size_t behind) {
    const std::uint16_t reg = fresh();
    m_inputs.push_back({.reg = reg, .trailing = behind, .part = part, .norm = root.id});
    return reg;
  };
  const std::uint16_t number = fresh(), target = fresh();
  emit(TapeOp::IntegerToFloat, number, operand(Input::Part::Sums, 0));
  const std::uint16_t scale = operand(Input::Part::SumScale, trailing);
  if (hasBias) {
    emit(TapeOp::MulAdd, target, number, scale, operand(Input::Part::SumBias, trailing));
  } else {
    emit(TapeOp::Mul, target, number, scale);
  }
  m_values[root.outputs[0]] = target;
}

void TapeBuilder::addBinary(const Node& node, TapeOp op) {
  std::uint16_t at = registerOf(node.input(0));
  const std::size_t count = node.inputs.size();
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint16_t other = registerOf(node.inputs[i]);
    const std::uint16_t next = fresh();
    emit(op, next, at, other);
    at = next;
  }
  if (node.is("Mean") && count > 1) {
    const std::uint16_t scale = number(1.0f / static_cast<float>(count));
    const std::uint16_t next = fresh();
    emit(TapeOp::Mul, next, at, scale);
    at = next;
  }
  if (count == 1) {
    const std::uint16_t next = fresh();
    emit(TapeOp::Copy, next, at);
    at = next;
  }
  m_values[node.outputs[0]] = at;
}

void TapeBuilder::addUnary(const Node& node, TapeOp op) {
  const std::uint16_t a = registerOf(node.input(0));
  const std::uint16_t target = fresh();
  float p = 0, q = 0;
  switch (op) {
    case TapeOp::LeakyRelu:
      p = node.floatAttribute("alpha", 0.01f);
      break;
    case TapeOp::Elu:
    case TapeOp::Celu:
    case TapeOp::ThresholdedRelu:
    case TapeOp::Swish:
      p = node.floatAttribute("alpha", 1.0f);
      break;
    case TapeOp::Selu:
      p = node.floatAttribute("alpha", 1.67326319217681884765625f);
      q = node.floatAttribute("gamma", 1.05070102214813232421875f);
      break;
    case TapeOp::HardSigmoid:
      p = node.floatAttribute("alpha", 0.2f);
      q = node.floatAttribute("beta", 0.5f);
      break;
    case TapeOp::HardSwish:
      p = 1.0f / 6.0f;
      q = 0.5f;
      break;
    case TapeOp::Gelu:
      if (node.textAttribute("approximate", "none") == "tanh") op = TapeOp::GeluTanh;
      break;
    case TapeOp::Copy:
      if (node.is("Cast") && node.intAttribute("to", 1) == kOnnxBool) op = TapeOp::ToBool;
      break;
    default:
      break;
  }
  emit(op, target, a, 0, 0, p, q);
  m_values[node.outputs[0]] = target;
}

void TapeBuilder::add(const Node& node, DataType type) {
  if (isIntegerTape(node, m_typeOf(node.input(0)), type))
    return node.is("Add") ? addBinary(node, TapeOp::AddIntegers) : addUnary(node, TapeOp::IntegerToFloat);
  if (const auto it = binaryOperators().find(node.op); it != binaryOperators().end())
    return addBinary(node, it->second);
  if (const auto it = unaryOperators().find(node.op); it != unaryOperators().end()) return addUnary(node, it->second);
  if (const auto it = scalarOperators().find(node.op); it != scalarOperators().end()) {
    const std::uint16_t a = registerOf(node.input(0));
    const std::uint16_t target = fresh();
    emit(TapeOp::Scalar, target, a);
    m_code.back().scalar = it->second;
    m_values[node.outputs[0]] = target;
    return;
  }
  const std::uint16_t target = fresh();
  if (node.is("Where")) {
    emit(TapeOp::Where, target, registerOf(node.input(0)), registerOf(node.input(1)), registerOf(node.input(2)));
  } else if (node.is("Clip")) {
    addClip(node, target);
  } else if (node.is("QuantizeLinear")) {
    addQuantize(node, type, target);
  } else if (node.is("DequantizeLinear")) {
    addDequantize(node, target);
  } else if (node.is("BatchNormalization")) {
    addBatchNorm(node, target);
  } else {
    addPow(node, target);
  }
  m_values[node.outputs[0]] = target;
}

void TapeBuilder::finish(TapeProgram& program, const std::vector<ValueId>& kept) {
  std::set<std::uint16_t> pinned;  // inputs, numbers and results keep their own register
  for (const Input& input : m_inputs) pinned.insert(input.reg);
  for (const auto& [reg, value] : m_numberList) pinned.insert(reg);
  for (ValueId value : kept) pinned.insert(m_values.at(value));
  std::map<std::uint16_t, std::size_t> lastUse;
  for (std::size_t i = 0; i < m_code.size(); ++i) {
    for (std::uint16_t reg : {m_code[i].a, m_code[i].b, m_code[i].c, m_code[i].target}) lastUse[reg] = i;
  }
  std::map<std::uint16_t, std::uint16_t> renamed;
  std::uint16_t next = 0;
  for (std::uint16_t reg : pinned) renamed[reg] = next++;
  std::vector<std::uint16_t> free;
  for (std::size_t i = 0; i < m_code.size(); ++i) {
    TapeInstruction& at = m_code[i];
    const TapeInstruction before = at;
    if (!renamed.contains(before.target)) {
      if (free.empty()) free.push_back(next++);
      renamed[before.target] = free.back();
      free.pop_back();
    }
    const auto rename = [&](std::uint16_t reg) { return renamed.contains(reg) ? renamed.at(reg) : std::uint16_t{0}; };
    at.target = rename(before.target);
    at.a = rename(before.a);
    at.b = rename(before.b);
    at.c = rename(before.c);
    for (std::uint16_t reg : std::set<std::uint16_t>{before.a, before.b, before.c, before.target}) {
      if (!pinned.contains(reg) && renamed.contains(reg) && lastUse.at(reg) == i) free.push_back(renamed.at(reg));
    }
  }
  program.code = m_code;
  program.registers = next;
  for (const auto& [reg, value] : m_numberList) program.numbers.emplace_back(renamed.at(reg), value);
  for (auto& [value, reg] : m_values) {
    if (renamed.contains(reg)) reg = renamed.at(reg);
  }
  for (Input& input : m_inputs) input.reg = renamed.at(input.reg);
}

}  // namespace fusescope::native
