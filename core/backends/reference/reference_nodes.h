#pragma once

#include <map>
#include <memory>
#include <optional>
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

/// Changes what nodes read and make while ReferenceNodes runs, as a kernel that rounds at other places does.
class Disturbance {
 public:
  virtual ~Disturbance() = default;
  /// `operands` of `node`, which it is about to read. Those that are absent have no data.
  virtual void disturbOperands(const Node& node, std::vector<Tensor>& operands) = 0;
  /// What `node` has made, before it is rounded to the type at which it is stored or to which an inner edge is
  /// narrowed.
  virtual void disturbResults(const Node& node, std::vector<Tensor>& results) = 0;
};

/// Runs a fused node's operators one by one with the reference kernels, on whole tensors of any extents, on text and on
/// containers. Math is in f32 for every narrower float. A value is rounded where it stands in memory, to its stored
/// type; where a node reads it from memory, to what the node calculates in; and where the contract narrows an inner
/// edge, as a Cast of the author does. One caller at a time.
class ReferenceNodes {
 public:
  /// Of `request` only plan, fused node and constants count. Errors: an operator without a reference kernel, a constant
  /// without data.
  static Result<std::unique_ptr<const ReferenceNodes>> prepare(const KernelRequest& request);

  /// What the nodes read of constants: converted and rounded once.
  const std::vector<Packing>& packings() const { return m_packings; }
  /// Places in KernelRequest::weightSlots of text, which cannot be packed: it is held here.
  const std::vector<std::size_t>& embedded() const { return m_embedded; }
  /// Constants for run(), packed out of those of `request`.
  Result<std::vector<Tensor>> constantsOf(const KernelRequest& request) const;
  /// The same, where they are packed already.
  std::vector<Tensor> constantsAt(std::span<const std::byte* const> packed) const;

  /// `inputs` as FusedNode::inputs, at the types they are stored at. Returns tensors as FusedNode::outputs, at theirs;
  /// they may share the bytes of inputs. Only bodies ask `stop`. `disturbance` may be null.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, std::span<const Tensor> constants,
                                  const StopToken& stop = {}, Disturbance* disturbance = nullptr) const;

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
    Node node;
    std::vector<Operand> operands;
    std::vector<NodeResult> results;
    bool equalOperands = false;
    bool passes = false;  ///< a Cast between floats: its result is its operand, which the edge rounds
  };

  ReferenceNodes() = default;
  Status addNode(const KernelRequest& request, const Node& node);
  Result<Operand> operandOf(const KernelRequest& request, const Node& node, std::size_t i, ValueId id);
  NodeResult resultOf(const KernelRequest& request, ValueId value);
  /// The tensors of one run.
  struct Work {
    std::span<const Tensor> stored, constants;
    std::vector<Tensor> given;           ///< the inputs at math types
    std::vector<Tensor> inner, results;  ///< inner values, and as the nodes gave them
    std::vector<Tensor> outputs;
    Disturbance* disturbance = nullptr;
  };
  void addConstant(const KernelRequest& request, ValueId id, const Tensor& tensor, const Operand& operand);
  Status runStep(const NodeStep& step, Work& work, const StopToken& stop) const;
  void keep(const NodeResult& result, const Tensor& tensor, Work& work) const;
  Tensor fetch(const Operand& operand, const Work& work) const;

  std::vector<ValueId> m_inputs;
  std::vector<DataType> m_declared;  ///< of the inputs
  std::vector<DataType> m_outputTypes;
  struct Constant {
    DataType type = DataType::Undefined;
    Dims dims;
    std::optional<Tensor> text;  ///< else the next of m_packings
  };
  std::vector<Constant> m_constants;
  std::vector<Packing> m_packings;
  std::vector<std::size_t> m_embedded;
  std::map<std::tuple<ValueId, DataType, DataType>, std::size_t> m_constantIndex;
  std::map<ValueId, std::size_t> m_innerIndex;
  std::set<ValueId> m_moved;  ///< inner values that are what was read from memory, moved
  std::size_t m_innerCount = 0;
  std::vector<NodeStep> m_steps;
};

}  // namespace fusescope
