#include "tests/property/emulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "tests/property/movements.h"
#include "tests/property/operators.h"

namespace fusescope::property {

namespace {

bool isPlainFloat(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

class Emulation {
 public:
  Emulation(const Plan& plan, const FusedNode& fused, std::uint64_t noise)
      : m_plan(plan),
        m_graph(plan.graph()),
        m_fused(fused),
        m_noise(noise),
        m_engine(noise / 2),
        m_flip(noise % 2 == 0 ? 1 : -1) {}

  std::optional<std::vector<Array>> run(const std::vector<Array>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      m_values[m_fused.inputs[i]] = rounded(inputs[i], m_fused.reads[i]);
      m_fromMemory.insert(m_fused.inputs[i]);
    }
    for (const NodeId id : m_fused.nodes)
      if (!step(m_graph.node(id))) return std::nullopt;
    std::vector<Array> outputs;
    for (const FusedOutput& output : m_fused.outputs) outputs.push_back(m_outputs.at(output.value));
    return outputs;
  }

 private:
  bool passesOn(const Node& node) const {
    const auto plain = [&](ValueId value) { return isPlainFloat(m_graph.value(value).type.dtype); };
    return isMovement(node.op) || (node.is("Cast") && plain(node.inputs[0]) && plain(node.outputs[0]));
  }

  /// Scales and zero points are read as they are.
  static bool isData(const Node& node, std::size_t i) {
    return i == 0 || !(node.is("QuantizeLinear") || node.is("DequantizeLinear"));
  }

  Array constantAsStored(ValueId value) const {
    return rounded(fromTensor(*m_graph.constantData(value)), m_plan.storedType(value));
  }

  Array operand(const Node& node, std::size_t i) {
    const ValueId value = node.inputs[i];
    const bool isConstant = m_graph.isConstant(value);
    Array array = isConstant ? constantAsStored(value) : m_values.at(value);
    const DataType type = m_plan.calculates[node.id.index];
    const bool fromMemory = (isConstant || m_fromMemory.contains(value)) &&
                            isPlainFloat(m_plan.storedType(value));  // f64 is never exchanged
    return isNarrow(type) && fromMemory && isData(node, i) && !passesOn(node) ? rounded(std::move(array), type) : array;
  }

  bool step(const Node& node) {
    std::vector<Array> read;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) read.push_back(operand(node, i));
    // What sums in float32 is right for operands that are off by an ulp; what a quantiser divides may end beside a tie.
    if (!passesOn(node) && !isDiscontinuous(node))
      for (std::size_t i = 0; i < read.size(); ++i)
        if (isData(node, i)) disturb(node.inputs[i], read[i], 0);
    std::vector<const Array*> pointers;
    for (const Array& array : read) pointers.push_back(&array);
    auto results = calculate(m_graph, node, pointers);
    if (!results) return false;
    const bool moved = passesOn(node) && std::ranges::any_of(node.inputs, [&](ValueId value) {
                         return m_graph.isConstant(value) ? isPlainFloat(m_graph.value(value).type.dtype)
                                                          : m_fromMemory.contains(value);
                       });
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!passesOn(node)) disturb(node.outputs[i], (*results)[i], 1);
      leave(node.outputs[i], std::move((*results)[i]));
      if (moved) m_fromMemory.insert(node.outputs[i]);
    }
    return true;
  }

  /// Operators that jump where their operand is a whole number or equals another: those are told exactly.
  static bool isDiscontinuous(const Node& node) { return node.is("Floor") || node.is("Greater") || node.is("Cast"); }

  /// Off by what float32 may make of them: each by its own size, and by `shared` times their usual one.
  void disturb(ValueId value, Array& array, double shared) {
    if (m_noise == 0 || !isFloat(m_graph.value(value).type.dtype)) return;
    const double usual = rootMeanSquare(array);
    for (double& element : array.values) {
      const double sign = (m_engine() & 1) != 0 ? m_flip : -m_flip;
      if (std::isfinite(element)) element += sign * 2e-7 * (std::abs(element) + shared * usual);
    }
  }

  void leave(ValueId value, Array array) {
    for (const FusedOutput& output : m_fused.outputs)
      if (output.value == value) m_outputs[value] = rounded(array, output.type);
    for (const InnerEdge& edge : m_fused.innerEdges)
      if (edge.value == value && (edge.real || isNarrow(edge.type))) array = rounded(std::move(array), edge.type);
    m_values[value] = std::move(array);
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const FusedNode& m_fused;
  const std::uint64_t m_noise;
  std::mt19937_64 m_engine;
  const double m_flip;  ///< of two variants each is off where the other is, to the other side
  std::map<ValueId, Array> m_values, m_outputs;
  std::set<ValueId> m_fromMemory;  ///< what stands there, and what is moved from there
};

double distance(double a, double b) {
  const bool same = a == b || (std::isnan(a) && std::isnan(b));
  if (same) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<std::vector<Array>> emulate(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs,
                                          std::uint64_t noise) {
  return Emulation(plan, fused, noise).run(inputs);
}

std::optional<Expected> expect(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs) {
  auto exact = emulate(plan, fused, inputs, 0);
  if (!exact) return std::nullopt;
  Expected expected{.outputs = std::move(*exact)};
  for (const Array& output : expected.outputs) expected.spread.push_back(zeros(output.dims));
  return expected;
}

void findSpread(const Plan& plan, const FusedNode& fused, const std::vector<Array>& inputs, Expected& expected) {
  expected.isSpread = true;
  constexpr std::uint64_t kVariants = 32;
  for (std::uint64_t noise = 2; noise < 2 + kVariants; ++noise) {
    const auto variant = emulate(plan, fused, inputs, noise);
    for (std::size_t i = 0; i < expected.outputs.size(); ++i)
      for (std::size_t k = 0; k < expected.outputs[i].values.size(); ++k) {
        double& spread = expected.spread[i].values[k];
        const double off = variant ? distance(expected.outputs[i].values[k], (*variant)[i].values[k])
                                   : std::numeric_limits<double>::infinity();
        spread = std::max(spread, 2 * off);
      }
  }
}

}  // namespace fusescope::property
