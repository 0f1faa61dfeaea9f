#include "backends/native/steps/integer_step.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "ir/graph.h"

namespace fusescope::native {
namespace {

constexpr std::size_t kMostOperands = 3;
constexpr std::size_t kMostAxes = 16;

/// Calls `row(operand offsets, target offset, count, operand strides)` for each row along the last axis. There may be
/// at most kMostAxes axes.
template <class Row>
void forEachRow(const Dims& domain, const std::vector<Dims>& strides, Row row) {
  const std::int64_t count = domain.empty() ? 1 : domain.back();
  const std::int64_t rows = domain.empty() ? 1 : productOf(domain, 0, domain.size() - 1);
  if (count == 0 || rows == 0) return;
  std::array<std::int64_t, kMostOperands> offsets{}, steps{};
  for (std::size_t k = 0; k < strides.size(); ++k) steps[k] = domain.empty() ? 0 : strides[k].back();
  std::array<std::int64_t, kMostAxes> at{};
  for (std::int64_t r = 0; r < rows; ++r) {
    row(offsets, r * count, count, steps);
    for (std::size_t axis = domain.size() - (domain.empty() ? 0 : 1); axis-- > 0;) {
      for (std::size_t k = 0; k < strides.size(); ++k) offsets[k] += strides[k][axis];
      if (++at[axis] < domain[axis]) break;
      for (std::size_t k = 0; k < strides.size(); ++k) offsets[k] -= strides[k][axis] * domain[axis];
      at[axis] = 0;
    }
  }
}

/// The base of these steps: it broadcasts the operands to the extents of the result.
class BroadcastStep : public Step {
 public:
  BroadcastStep(std::vector<Ref> operands, Ref target) : m_operands(std::move(operands)), m_target(std::move(target)) {
    m_strides.reserve(m_operands.size());
    for (const Ref& ref : m_operands) m_strides.push_back(broadcastStrides(ref, m_target.dims));
  }
  const std::vector<Ref>& operands() const { return m_operands; }
  const Ref& target() const { return m_target; }

 protected:
  template <class T>
  const T* operand(std::size_t k, Memory memory) const {
    return elementsAt<T>(m_operands[k], memory);
  }
  template <class T>
  T* targetAt(Memory memory) const {
    return elementsAt<T>(m_target, memory);
  }
  template <class Row>
  void rows(Row row) const {
    forEachRow(m_target.dims, m_strides, row);
  }

 private:
  std::vector<Ref> m_operands;
  Ref m_target;
  std::vector<Dims> m_strides;
};

template <class T, class R, class F>
class BinaryStep final : public BroadcastStep {
 public:
  BinaryStep(std::vector<Ref> operands, Ref target, F f, bool divides)
      : BroadcastStep(std::move(operands), std::move(target)), m_f(f), m_divides(divides) {}
  Status run(Memory memory, std::byte*) const override {
    const T *a = operand<T>(0, memory), *b = operand<T>(1, memory);
    R* result = targetAt<R>(memory);
    bool byZero = false;
    rows([&](const auto& from, std::int64_t to, std::int64_t count, const auto& step) {
      for (std::int64_t i = 0; i < count; ++i) {
        const T right = b[from[1] + i * step[1]];
        byZero = byZero || (m_divides && right == T(0));
        result[to + i] = byZero ? R(0) : static_cast<R>(m_f(a[from[0] + i * step[0]], right));
      }
    });
    if (byZero) return Diagnostic{.message = "an integer is divided by zero"};
    return Done{};
  }

 private:
  F m_f;
  bool m_divides;
};

template <class T, class F>
class UnaryStep final : public BroadcastStep {
 public:
  UnaryStep(std::vector<Ref> operands, Ref target, F f)
      : BroadcastStep(std::move(operands), std::move(target)), m_f(f) {}
  Status run(Memory memory, std::byte*) const override {
    const T* a = operand<T>(0, memory);
    T* result = targetAt<T>(memory);
    rows([&](const auto& from, std::int64_t to, std::int64_t count, const auto& step) {
      for (std::int64_t i = 0; i < count; ++i) result[to + i] = m_f(a[from[0] + i * step[0]]);
    });
    return Done{};
  }

 private:
  F m_f;
};

/// Selects elements of one width, which are moved as bits regardless of their type.
template <class T>
class WhereStep final : public BroadcastStep {
 public:
  using BroadcastStep::BroadcastStep;
  Status run(Memory memory, std::byte*) const override {
    const auto* condition = operand<std::uint8_t>(0, memory);
    const T *a = operand<T>(1, memory), *b = operand<T>(2, memory);
    T* result = targetAt<T>(memory);
    rows([&](const auto& from, std::int64_t to, std::int64_t count, const auto& step) {
      for (std::int64_t i = 0; i < count; ++i)
        result[to + i] = condition[from[0] + i * step[0]] != 0 ? a[from[1] + i * step[1]] : b[from[2] + i * step[2]];
    });
    return Done{};
  }
};

// Sums and products wrap around: they are calculated as unsigned numbers of 64 bits.
template <class T>
T wrapped(std::uint64_t value) {
  return static_cast<T>(value);
}

/// Returns the remainder with the sign of the dividend.
template <class T>
T remainder(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return T(0);
  return static_cast<T>(a % b);
}

/// Returns the remainder with the sign of the divisor.
template <class T>
T modulo(T a, T b) {
  const T rest = remainder(a, b);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? static_cast<T>(rest + b) : rest;
}

template <class T>
std::unique_ptr<BroadcastStep> arithmetic(const Node& node, std::vector<Ref> operands, Ref target) {
  using U = std::uint64_t;
  const auto binary = [&](auto f, bool divides = false) -> std::unique_ptr<BroadcastStep> {
    return std::make_unique<BinaryStep<T, T, decltype(f)>>(std::move(operands), std::move(target), f, divides);
  };
  const auto compare = [&](auto f) -> std::unique_ptr<BroadcastStep> {
    return std::make_unique<BinaryStep<T, std::uint8_t, decltype(f)>>(std::move(operands), std::move(target), f, false);
  };
  const auto unary = [&](auto f) -> std::unique_ptr<BroadcastStep> {
    return std::make_unique<UnaryStep<T, decltype(f)>>(std::move(operands), std::move(target), f);
  };
  const std::string& op = node.op;
  if (op == "Add") return binary([](T a, T b) { return wrapped<T>(static_cast<U>(a) + static_cast<U>(b)); });
  if (op == "Sub") return binary([](T a, T b) { return wrapped<T>(static_cast<U>(a) - static_cast<U>(b)); });
  if (op == "Mul") return binary([](T a, T b) { return wrapped<T>(static_cast<U>(a) * static_cast<U>(b)); });
  if (op == "Max") return binary([](T a, T b) { return a > b ? a : b; });
  if (op == "Min") return binary([](T a, T b) { return a < b ? a : b; });
  if (op == "Div") {
    return binary(
        [](T a, T b) {
          if constexpr (std::is_signed_v<T>)
            if (b == T(-1)) return wrapped<T>(U(0) - static_cast<U>(a));
          return static_cast<T>(a / b);
        },
        true);
  }
  if (op == "Mod") return binary(node.intAttribute("fmod", 0) != 0 ? remainder<T> : modulo<T>, true);
  if (op == "Equal") return compare([](T a, T b) { return a == b; });
  if (op == "Less") return compare([](T a, T b) { return a < b; });
  if (op == "LessOrEqual") return compare([](T a, T b) { return a <= b; });
  if (op == "Greater") return compare([](T a, T b) { return a > b; });
  if (op == "GreaterOrEqual") return compare([](T a, T b) { return a >= b; });
  if (op == "Neg") return unary([](T a) { return wrapped<T>(U(0) - static_cast<U>(a)); });
  return unary([](T a) { return a < T(0) ? wrapped<T>(U(0) - static_cast<U>(a)) : a; });  // Abs
}

std::unique_ptr<BroadcastStep> where(std::vector<Ref> operands, Ref target) {
  switch (byteSize(target.dtype, 1)) {
    case 1:
      return std::make_unique<WhereStep<std::uint8_t>>(std::move(operands), std::move(target));
    case 2:
      return std::make_unique<WhereStep<std::uint16_t>>(std::move(operands), std::move(target));
    case 4:
      return std::make_unique<WhereStep<std::uint32_t>>(std::move(operands), std::move(target));
    default:
      return std::make_unique<WhereStep<std::uint64_t>>(std::move(operands), std::move(target));
  }
}

bool isPlainInteger(DataType type) {
  return type == DataType::I64 || type == DataType::I32 || type == DataType::I8 || type == DataType::U8;
}

std::unique_ptr<BroadcastStep> stepOf(const Node& node, std::vector<Ref> operands, Ref target) {
  if (node.is("Where")) return where(std::move(operands), std::move(target));
  switch (operands[0].dtype) {
    case DataType::I64:
      return arithmetic<std::int64_t>(node, std::move(operands), std::move(target));
    case DataType::I32:
      return arithmetic<std::int32_t>(node, std::move(operands), std::move(target));
    case DataType::I8:
      return arithmetic<std::int8_t>(node, std::move(operands), std::move(target));
    default:
      return arithmetic<std::uint8_t>(node, std::move(operands), std::move(target));
  }
}

/// A step that keeps its node and operands, so that it can be made again for other extents.
class IntegerStep final : public Step {
 public:
  IntegerStep(std::shared_ptr<const Node> node, std::vector<Ref> operands, Ref target)
      : m_node(std::move(node)), m_step(stepOf(*m_node, std::move(operands), std::move(target))) {}

  Status run(Memory memory, std::byte* scratch) const override { return m_step->run(memory, scratch); }

  std::unique_ptr<const Step> forExtents(const NewExtents& extents) const override {
    auto target = extents.at(m_step->target());
    std::vector<Ref> operands;
    operands.reserve(m_step->operands().size());
    for (const Ref& operand : m_step->operands()) {
      auto now = target ? extents.at(operand) : std::nullopt;
      if (!now || !broadcasts(now->dims, target->dims)) return nullptr;
      operands.push_back(std::move(*now));
    }
    return std::make_unique<IntegerStep>(m_node, std::move(operands), std::move(*target));
  }

 private:
  std::shared_ptr<const Node> m_node;
  std::unique_ptr<BroadcastStep> m_step;
};

}  // namespace

bool hasIntegerStep(const Node& node, std::span<const DataType> inputs) {
  static constexpr std::array kBinary{"Add", "Sub",   "Mul",  "Mod",         "Max",     "Min",
                                      "Div", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
  static constexpr std::array kUnary{"Neg", "Abs"};
  const auto named = [&](const char* op) { return node.is(op); };
  if (node.is("Where"))
    return inputs.size() == 3 && inputs[0] == DataType::Bool && inputs[1] == inputs[2] &&
           inputs[1] != DataType::String && byteSize(inputs[1], 2) >= 2 && byteSize(inputs[1], 1) <= 8;
  const std::size_t arity = std::ranges::any_of(kBinary, named) ? 2 : std::ranges::any_of(kUnary, named) ? 1 : 0;
  return arity > 0 && inputs.size() == arity && isPlainInteger(inputs[0]) &&
         std::ranges::all_of(inputs, [&](DataType type) { return type == inputs[0]; });
}

std::unique_ptr<Step> makeIntegerStep(const Node& node, const std::vector<Ref>& operands, const Ref& target) {
  return std::make_unique<IntegerStep>(std::make_shared<const Node>(node), operands, target);
}

}  // namespace fusescope::native
