#include "engine/steps/control_flow_step.h"

#include <cstring>

#include "backends/reference/convert_elements.h"

namespace fusescope {
namespace {

/// Writes results into bytes that were planned for them.
class PlannedResults final : public ResultSink {
 public:
  PlannedResults(const std::vector<BorderType>& types, std::span<std::byte* const> bytes)
      : m_types(types), m_bytes(bytes) {}
  Result<std::byte*> place(std::size_t i, DataType type, const Dims& dims) override {
    if (type == m_types[i].type && dims == m_types[i].dims) return m_bytes[i];
    return Diagnostic{.message = "gave " + std::string(name(type)) + toText(dims) + " where " +
                                 std::string(name(m_types[i].type)) + toText(*m_types[i].dims) + " was inferred"};
  }

 private:
  const std::vector<BorderType>& m_types;
  std::span<std::byte* const> m_bytes;
};

/// Writes results into new tensors that have the extents of the results.
class TensorResults final : public ResultSink {
 public:
  explicit TensorResults(std::size_t count) : m_tensors(count) {}
  Result<std::byte*> place(std::size_t i, DataType type, const Dims& dims) override {
    m_tensors[i] = Tensor::zeros(type, dims);
    return m_tensors[i].mutableBytes();
  }
  std::vector<Tensor> take() { return std::move(m_tensors); }

 private:
  std::vector<Tensor> m_tensors;
};

BorderValue borderValue(const Tensor& tensor) {
  const bool hasBytes = tensor.container() == Container::None && tensor.type() != DataType::String;
  return {.bytes = hasBytes ? tensor.bytes() : nullptr, .dims = &tensor.dims(), .box = &tensor};
}

}  // namespace

ControlFlowStep::ControlFlowStep(ControlFlowParts parts) : m_parts(std::move(parts)) {
  m_given.resize(m_parts.inputs.size());
  for (std::size_t i = 0; i < m_given.size(); ++i)
    if (m_parts.inputs[i].dims) m_given[i].dims = &*m_parts.inputs[i].dims;
  m_operands.resize(m_parts.operands.size());
  for (std::size_t i = 0; i < m_operands.size(); ++i)
    if (m_parts.operands[i].from == OperandSource::From::Constant)
      m_operands[i] = borderValue(m_parts.constants[m_parts.operands[i].index]);
}

void ControlFlowStep::readOperands(std::span<const BorderValue> inputs) {
  for (std::size_t i = 0; i < m_operands.size(); ++i)
    if (m_parts.operands[i].from == OperandSource::From::Input) m_operands[i] = inputs[m_parts.operands[i].index];
}

Status ControlFlowStep::run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                            const StopToken& stop) {
  const std::lock_guard lock(m_mutex);
  for (std::size_t i = 0; i < inputs.size(); ++i) m_given[i].bytes = inputs[i];
  readOperands(m_given);
  PlannedResults results(m_parts.outputs, outputs);
  return execute(results, stop);
}

Result<std::vector<Tensor>> ControlFlowStep::run(std::span<const Tensor> inputs, const StopToken& stop) {
  const std::lock_guard lock(m_mutex);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors.push_back(convertedTensor(inputs[i], m_parts.inputs[i].type));
  std::vector<BorderValue> given;
  for (const Tensor& tensor : tensors) given.push_back(borderValue(tensor));
  readOperands(given);
  TensorResults results(m_parts.outputs.size());
  TRY(execute(results, stop));
  return results.take();
}

Status ControlFlowStep::checkSingle(const BorderValue& value) const {
  if (elementCount(*value.dims) == 1) return Done{};
  return Diagnostic{
      .message = "a condition or trip count must be a single element, but has extents " + toText(*value.dims),
      .where = {.node = name()}};
}

Result<bool> ControlFlowStep::flagAt(std::size_t i) const {
  TRY(checkSingle(operand(i)));
  return *operand(i).bytes != std::byte{0};
}

Result<std::int64_t> ControlFlowStep::numberAt(std::size_t i) const {
  TRY(checkSingle(operand(i)));
  std::int64_t number = 0;
  std::memcpy(&number, operand(i).bytes, sizeof number);
  return number;
}

}  // namespace fusescope
