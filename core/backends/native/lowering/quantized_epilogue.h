#pragma once

#include <dnnl.hpp>

#include "backends/native/lowering/quantized_chain.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Collects post-operations of oneDNN on a sum of products of codes. The accumulator of oneDNN contains the number
/// divided by `unit`, so that operations that only scale cost nothing if the following ones can work in another unit.
class QuantizedEpilogue {
 public:
  using Number = std::function<float(ValueId)>;  ///< returns the number in a constant of one element
  /// `unit` is the constant scale of the sums, or 1 if it is not valid.
  QuantizedEpilogue(ValueId unit, Number number) : m_unit(unit), m_number(std::move(number)) {}

  void round(const CodeScale& codes);
  /// Adds an operand in the layout of its descriptor.
  void addCodes(const CodeScale& codes, const dnnl::memory::desc& operand);
  void addNumbers(const dnnl::memory::desc& operand);
  /// Adds an operand that is given in units of unit().
  void addInUnits(const dnnl::memory::desc& operand);
  ValueId unit() const { return m_unit; }
  /// Appends an activation. Returns false, and appends nothing, if oneDNN does not support it.
  bool activate(const Node& node, const std::function<std::optional<float>(ValueId)>& constantNumber);
  /// Ends the list: the result is codes, whose zero point the primitive adds, or numbers.
  void finish(const std::optional<CodeScale>& codes);

  const dnnl::post_ops& operations() const { return m_operations; }
  /// Returns oneDNN's argument number for the operand of the last operation.
  int lastArgument() const { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(m_operations.len() - 1) | DNNL_ARG_SRC_1; }

 private:
  void changeUnit(ValueId unit, float shift = 0);
  float numberOf(ValueId unit) const { return unit.valid() ? m_number(unit) : 1.0f; }

  dnnl::post_ops m_operations;
  ValueId m_unit;
  Number m_number;
};

}  // namespace fusescope::native
