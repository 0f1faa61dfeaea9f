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
#include "ir/graph.h"

namespace fusescope {

/// Returns the type that the reference kernels emulate when they run `fused`: a float narrower than float32, or the
/// integers of a quantised region, to which the plan makes them round. Results are right, but the time is meaningless.
/// Undefined: nothing is emulated.
DataType emulatedType(const Plan& plan, const FusedNode& fused);
inline bool isEmulated(const Plan& plan, const FusedNode& fused) {
  return emulatedType(plan, fused) != DataType::Undefined;
}

/// Changes the values that nodes read and make while ReferenceNodes runs, to imitate a kernel that rounds in other
/// places.
class Disturbance {
 public:
  virtual ~Disturbance() = default;
  /// Changes `operands`, which `node` is about to read. Absent operands have no data.
  virtual void disturbOperands(const Node& node, std::vector<Tensor>& operands) = 0;
  /// Changes the results of `node` before they are rounded to their stored types or to the types of narrowed inner
  /// edges.
  virtual void disturbResults(const Node& node, std::vector<Tensor>& results) = 0;
};

/// Runs the operators of a fused node one by one with the reference kernels, on whole tensors of any extents, on text
/// and on containers. All narrower floats are calculated in f32. A value is rounded when it is written to memory, to
/// its stored type; when a node reads it from memory, to the type in which the node calculates; and where the contract
/// narrows an inner edge, as a Cast of the author does. It may be used by one caller at a time.
class ReferenceNodes {
 public:
  /// Uses only plan, fused node and constants of `request`. Errors: an operator without a reference kernel, a constant
  /// without data.
  static Result<std::unique_ptr<const ReferenceNodes>> prepare(const KernelRequest& request);

  /// Returns the packings of the constants as the nodes read them: converted and rounded once.
  const std::vector<Packing>& packings() const { return m_packings; }
  /// Returns the constants of text, as indices in KernelRequest::weightSlots. Text cannot be packed and is stored in
  /// this object.
  const std::vector<std::size_t>& embedded() const { return m_embedded; }
  /// Returns the constants for run(), packed from those of `request`.
  Result<std::vector<Tensor>> constantsOf(const KernelRequest& request) const;
  /// Returns the constants for run() from memory that is packed already.
  std::vector<Tensor> constantsAt(std::span<const std::byte* const> packed) const;

  /// Runs the nodes. `inputs` are in the order of FusedNode::inputs and in their stored types. Returns tensors in the
  /// order of FusedNode::outputs, in their stored types; they may share the bytes of inputs. Only bodies check `stop`.
  /// `disturbance` may be null.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, std::span<const Tensor> constants,
                                  const StopToken& stop = {}, Disturbance* disturbance = nullptr) const;

 private:
  /// Says where a node finds one of its operands.
  struct Operand {
    enum class From { Absent, Input, Constant, Inner };
    From from = From::Absent;
    std::size_t index = 0;  ///< index of an input of the fused node, of a constant, or of an inner value
    /// The type to which an operand from memory is rounded; Undefined if it is not.
    DataType rounded = DataType::Undefined;
    DataType type = DataType::Undefined;  ///< the type that the node requires; Undefined if it accepts any
    bool asStored = false;                ///< the operand is passed as it is in memory, not in the type of arithmetic
  };
  /// Says what happens to a result of a node.
  struct NodeResult {
    bool wanted = false;
    std::size_t inner = 0;  ///< its index among the inner values
    /// The type in which the nodes that read it calculate; Undefined if it is kept unchanged.
    DataType type = DataType::Undefined;
    DataType declared = DataType::Undefined;
    /// The type to which it is rounded, because the edge is real or narrowed by the contract.
    DataType edge = DataType::Undefined;
    std::optional<std::size_t> output;  ///< the output of the fused node to which it is written
  };
  struct NodeStep {
    Node node;
    std::vector<Operand> operands;
    std::vector<NodeResult> results;
    bool equalOperands = false;
    bool passes = false;  ///< a Cast between floats: its result is its operand, which only the edge rounds
  };

  ReferenceNodes() = default;
  Status addNode(const KernelRequest& request, const Node& node);
  Result<Operand> operandOf(const KernelRequest& request, const Node& node, std::size_t i, ValueId id);
  NodeResult resultOf(const KernelRequest& request, ValueId value);
  /// The tensors of one run.
  struct Work {
    std::span<const Tensor> stored, constants;
    std::vector<Tensor> given;           ///< the inputs, in the types of arithmetic
    std::vector<Tensor> inner, results;  ///< inner values; the results of the current node
    std::vector<Tensor> outputs;
    Disturbance* disturbance = nullptr;
  };
  void addConstant(const KernelRequest& request, ValueId id, const Tensor& tensor, const Operand& operand);
  Status runStep(const NodeStep& step, Work& work, const StopToken& stop) const;
  void keep(const NodeResult& result, const Tensor& tensor, Work& work) const;
  Tensor fetch(const Operand& operand, const Work& work) const;

  std::vector<ValueId> m_inputs;
  std::vector<DataType> m_declared;  ///< the declared types of the inputs
  std::vector<DataType> m_outputTypes;
  struct Constant {
    DataType type = DataType::Undefined;
    Dims dims;
    std::optional<Tensor> text;  ///< set for a constant of text; other constants use the next packing of m_packings
  };
  std::vector<Constant> m_constants;
  std::vector<Packing> m_packings;
  std::vector<std::size_t> m_embedded;
  std::map<std::tuple<ValueId, DataType, DataType>, std::size_t> m_constantIndex;
  std::map<ValueId, std::size_t> m_innerIndex;
  std::set<ValueId> m_moved;  ///< inner values that only move what was read from memory
  std::size_t m_innerCount = 0;
  std::vector<NodeStep> m_steps;
};

}  // namespace fusescope
