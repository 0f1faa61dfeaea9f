#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "engine/body_lowering.h"
#include "engine/body_program.h"
#include "engine/tensor_step.h"

namespace fusescope {

/// Where a node with bodies leaves its results.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  /// The bytes for result `i` of these extents.
  virtual Result<std::byte*> place(std::size_t i, DataType type, const Dims& dims) = 0;
};

/// Where a node with bodies finds an operand: among the inputs of its fused node, or a constant of its own.
struct OperandSource {
  enum class From { Absent, Input, Constant };
  From from = From::Absent;
  std::size_t index = 0;
};

/// What a node with bodies is made of, ready to run.
struct ControlFlowParts {
  std::string name;                      ///< of the node, for errors
  std::vector<BorderType> inputs;        ///< as FusedNode::inputs
  std::vector<BorderType> outputs;       ///< as FusedNode::outputs
  std::vector<OperandSource> operands;   ///< as operands() of the node
  std::vector<Tensor> constants;         ///< that operands are
  std::vector<std::size_t> outputIndex;  ///< by output of the node: among `outputs`, or SIZE_MAX
};

/// What If, Loop and Scan have in common: operands and results on bytes or on tensors.
class ControlFlowStep : public BodyStep {
 public:
  explicit ControlFlowStep(ControlFlowParts parts);
  Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             const StopToken& stop) final;
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop) final;

 protected:
  virtual Status execute(ResultSink& results, const StopToken& stop) = 0;
  const std::string& name() const { return m_parts.name; }
  std::size_t outputOf(std::size_t nodeOutput) const {
    return nodeOutput < m_parts.outputIndex.size() ? m_parts.outputIndex[nodeOutput] : SIZE_MAX;
  }
  std::size_t operandCount() const { return m_operands.size(); }
  bool hasOperand(std::size_t i) const {
    return i < m_parts.operands.size() && m_parts.operands[i].from != OperandSource::From::Absent;
  }
  /// Of the run under way.
  const BorderValue& operand(std::size_t i) const { return m_operands[i]; }
  /// The one truth value or number that an operand holds. Error: it holds another number of elements.
  Result<bool> flagAt(std::size_t i) const;
  Result<std::int64_t> numberAt(std::size_t i) const;

 private:
  Status checkSingle(const BorderValue& value) const;
  void readOperands(std::span<const BorderValue> inputs);

  ControlFlowParts m_parts;
  std::vector<BorderValue> m_given;     ///< as FusedNode::inputs, with the extents that were prepared for
  std::vector<BorderValue> m_operands;  ///< as operands() of the node
  std::mutex m_mutex;                   ///< held while it runs
};

}  // namespace fusescope
