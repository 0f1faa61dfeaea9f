#pragma once

#include <dnnl.hpp>

#include "backends/native/quantized_chain.h"

namespace fusescope::native {

/// What oneDNN does to a sum of products of codes, as post-operations. A register holds the number divided by `unit`,
/// so that steps that only scale cost nothing where what follows can take the number in units of its own.
class QuantizedEpilogue {
 public:
  using Number = std::function<float(ValueId)>;  ///< of a constant of one element
  /// `unit`: a constant scale, or 1 if it is not valid: that of the sums, as they are scaled at first.
  QuantizedEpilogue(ValueId unit, Number number) : m_unit(unit), m_number(std::move(number)) {}

  void round(const CodeScale& codes);
  /// `operand` as it lies.
  void addCodes(const CodeScale& codes, const dnnl::memory::desc& operand);
  void addNumbers(const dnnl::memory::desc& operand);
  /// `operand` as it lies, in units of unit().
  void addInUnits(const dnnl::memory::desc& operand);
  ValueId unit() const { return m_unit; }
  /// False: it is not one of oneDNN's, and nothing was appended.
  bool activate(const Node& node, const std::function<std::optional<float>(ValueId)>& constantNumber);
  /// The end: codes, whose zero the primitive adds, or numbers.
  void finish(const std::optional<CodeScale>& codes);

  const dnnl::post_ops& operations() const { return m_operations; }
  /// What the operand of the last step is called.
  int lastArgument() const { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(m_operations.len() - 1) | DNNL_ARG_SRC_1; }

 private:
  void changeUnit(ValueId unit, float shift = 0);
  float numberOf(ValueId unit) const { return unit.valid() ? m_number(unit) : 1.0f; }

  dnnl::post_ops m_operations;
  ValueId m_unit;
  Number m_number;
};

}  // namespace fusescope::native
