#pragma once

#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "backends/backend.h"
#include "base/stop.h"

namespace fusescope {

/// The type that the reference emulates where it runs `fused`: a float narrower than float32, or the integers of a
/// quantised region, to which the plan makes it round. Results are right, its time means nothing. Undefined: none.
DataType emulatedType(const Plan& plan, const FusedNode& fused);
inline bool isEmulated(const Plan& plan, const FusedNode& fused) {
  return emulatedType(plan, fused) != DataType::Undefined;
}

/// Runs a fused node's operators one by one with the reference kernels, on whole tensors of any extents, on text and on
/// containers. Math is in f32 for every narrower float. A value is rounded where it stands in memory, to its stored
/// type; where a node reads it from memory, to what the node calculates in; and where the contract narrows an inner
/// edge. A Cast between floats inside the kernel rounds nothing of itself. One caller at a time.
class ReferenceNodes {
 public:
  /// Of `request` only plan, fused node and constants count. Constants are converted and rounded once, here. Errors: an
  /// operator without a reference kernel, a constant without data.
  static Result<std::unique_ptr<ReferenceNodes>> prepare(const KernelRequest& request);

  /// `inputs` as FusedNode::inputs, at the types they are stored at. Returns tensors as FusedNode::outputs, at theirs;
  /// they may share the bytes of inputs. Only bodies ask `stop`.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop = {});

 private:
  /// Where a node of the fused node finds an operand.
  struct Operand {
    enum class From { Absent, Input, Constant, Inner };
    From from = From::Absent;
    std::size_t index = 0;                   ///< of the fused node's input, of the constant, of the inner value
    DataType rounded = DataType::Undefined;  ///< to this type, read from memory; Undefined: as it is
    DataType type = DataType::Undefined;     ///< that the node insists on; Undefined: as it comes
    bool asStored = false;                   ///< the bits as they are in memory, not what the math sees
  };
  /// What becomes of a node's output.
  struct NodeResult {
    bool wanted = false;
    std::size_t inner = 0;                ///< its place among the inner values
    DataType type = DataType::Undefined;  ///< of its consumers' node math; Undefined: as it comes
    DataType declared = DataType::Undefined;
    DataType edge = DataType::Undefined;  ///< rounded to this: the edge is real or narrowed by contract
    std::optional<std::size_t> output;    ///< the fused node's output it is stored in
  };
  struct NodeStep {
    const Node* node = nullptr;
    std::vector<Operand> operands;
    std::vector<NodeResult> results;
    bool equalOperands = false;
    bool passes = false;  ///< a Cast between floats: its result is its operand
  };

  ReferenceNodes() = default;
  Status addNode(const KernelRequest& request, const Node& node);
  Result<Operand> operandOf(const KernelRequest& request, const Node& node, std::size_t i, ValueId id);
  NodeResult resultOf(const KernelRequest& request, ValueId value);
  Status runStep(const NodeStep& step, std::vector<Tensor>& outputs, const StopToken& stop);
  void keep(const NodeResult& result, const Tensor& tensor, std::vector<Tensor>& outputs);
  Tensor fetch(const Operand& operand) const;

  std::shared_ptr<const Model> m_model;  ///< keeps the nodes alive
  std::vector<ValueId> m_inputs;
  std::vector<DataType> m_declared;  ///< of the inputs
  std::vector<DataType> m_outputTypes;
  std::vector<Tensor> m_constants;
  std::map<std::tuple<ValueId, DataType, DataType>, std::size_t> m_constantIndex;
  std::map<ValueId, std::size_t> m_innerIndex;
  std::set<ValueId> m_moved;  ///< inner values that are what was read from memory, moved
  std::vector<Tensor> m_inner;
  std::vector<Tensor> m_results;  ///< the inner values as the nodes gave them
  std::vector<Tensor> m_given;    ///< the inputs of this run, at math types
  std::vector<Tensor> m_stored;   ///< and as they are stored
  std::vector<NodeStep> m_steps;
};

}  // namespace fusescope
