#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/kernels/tensor_step.h"
#include "engine/steps/body_program.h"

namespace fusescope {

/// The type of an input or output of a node with bodies. `dims` is empty if the extents are known only while the node
/// runs.
struct BorderType {
  DataType type = DataType::Undefined;
  std::optional<Dims> dims;
};

/// Provides the memory for the results of a node with bodies.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  /// Returns the memory for result `i`, which has this type and these extents.
  virtual Result<std::byte*> place(std::size_t i, DataType type, const Dims& dims) = 0;
};

/// The source of an operand of a node with bodies: an input of its fused node, or a constant of its own.
struct OperandSource {
  enum class From { Absent, Input, Constant };
  From from = From::Absent;
  std::size_t index = 0;
};

/// All parts of a node with bodies, ready to run.
struct ControlFlowParts {
  std::string name;                      ///< the name of the node, for errors
  std::vector<BorderType> inputs;        ///< in the order of FusedNode::inputs
  std::vector<BorderType> outputs;       ///< in the order of FusedNode::outputs
  std::vector<OperandSource> operands;   ///< in the order of the node's operands()
  std::vector<Tensor> constants;         ///< the operands that are constants
  std::vector<std::size_t> outputIndex;  ///< for each output of the node, its index in `outputs`, or SIZE_MAX
};

/// The common base of If, Loop and Scan, which read operands and write results as bytes or as tensors.
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
  /// Returns an operand of the current run.
  const BorderValue& operand(std::size_t i) const { return m_operands[i]; }
  /// Return the only element of an operand, as a truth value or a number. Error: the operand has more or fewer than one
  /// element.
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
