#include "backends/native/lowering/quantized_epilogue.h"

#include <cmath>
#include <limits>

#include "backends/native/lowering/post_operations.h"

namespace fusescope::native {

using dnnl::algorithm;

// The numbers of scales are requested only if the units differ: a kernel that does not depend on them can also be used
// for other scales.
void QuantizedEpilogue::changeUnit(ValueId unit, float shift) {
  const float factor = m_unit == unit ? 1.0f : numberOf(m_unit) / numberOf(unit);
  if (factor != 1.0f || shift != 0) m_operations.append_eltwise(algorithm::eltwise_linear, factor, shift);
  m_unit = unit;
}

// Rounds to whole numbers of the unit, which are the codes minus their zero point.
void QuantizedEpilogue::round(const CodeScale& codes) {
  changeUnit(codes.scale);
  m_operations.append_eltwise(algorithm::eltwise_round, 0, 0);
  m_operations.append_eltwise(algorithm::eltwise_clip, codes.least() - codes.zero, codes.most() - codes.zero);
}

void QuantizedEpilogue::addCodes(const CodeScale& codes, const dnnl::memory::desc& operand) {
  changeUnit(codes.scale, -codes.zero);
  m_operations.append_binary(algorithm::binary_add, operand);
}

void QuantizedEpilogue::addNumbers(const dnnl::memory::desc& operand) {
  changeUnit(ValueId());
  m_operations.append_binary(algorithm::binary_add, operand);
}

void QuantizedEpilogue::addInUnits(const dnnl::memory::desc& operand) {
  m_operations.append_binary(algorithm::binary_add, operand);
}

// Activations such as Relu do not depend on the unit, and the bounds of a Clip can be converted to it.
bool QuantizedEpilogue::activate(const Node& node, const std::function<std::optional<float>(ValueId)>& constantNumber) {
  if (node.is("Clip")) {
    const auto end = [&](std::size_t i, float otherwise) -> std::optional<float> {
      if (!node.input(i).valid()) return otherwise;
      const auto number = constantNumber(node.input(i));
      return number ? std::optional(*number / numberOf(m_unit)) : std::nullopt;
    };
    const auto low = end(1, std::numeric_limits<float>::lowest()), high = end(2, std::numeric_limits<float>::max());
    if (!low || !high) return false;
    m_operations.append_eltwise(algorithm::eltwise_clip, *low, *high);
    return true;
  }
  if (node.is("Relu")) {
    m_operations.append_eltwise(algorithm::eltwise_relu, 0, 0);
    return true;
  }
  dnnl::post_ops known;
  const Chain::Operation operation{Chain::Kind::Activation, node.id, {}};
  if (!appendActivation(known, operation, node, constantNumber)) return false;
  changeUnit(ValueId());
  appendActivation(m_operations, operation, node, constantNumber);
  return true;
}

// Ties are rounded to the nearest even number before the zero point is added. If an odd zero point were added first,
// the other neighbour would be even.
void QuantizedEpilogue::finish(const std::optional<CodeScale>& codes) {
  if (!codes) return changeUnit(ValueId());
  changeUnit(codes->scale);
  if (std::fmod(codes->zero, 2.0f) != 0) m_operations.append_eltwise(algorithm::eltwise_round, 0, 0);
}

}  // namespace fusescope::native
