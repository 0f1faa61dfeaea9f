#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "ir/graph.h"
#include "ops/type_set.h"

namespace fusescope {

/// What family an operator is of: how planners and views speak of it.
enum class OpKind {
  Elementwise,  ///< one output element from the elements at the same (broadcast) place
  Convolution,
  MatMul,
  Pooling,
  Normalization,
  Softmax,
  Reduction,
  View,      ///< same elements in the same order under other extents: Reshape, Squeeze, Flatten, Identity …
  Movement,  ///< elements moved, none computed: Transpose, Concat, Slice, Gather …
  Shape,     ///< about extents: Shape, Size, ConstantOfShape, Range
  Quantization,
  ControlFlow,
  Recurrence,
  Random,
  Other,
};
std::string_view name(OpKind kind);  ///< "elementwise", "matmul", …

/// What a node needs of extents that are open, and what would be an error were they known.
struct ExtentDemand {
  Dim left, right;
  bool atMost = false;  ///< else they must be equal
};

/// What a shape function sees: types of the inputs (with symbols), and values where they are known.
class InferContext {
 public:
  /// Both spans are by operand (operands() of ir/graph.h). `demands`: gets what demand() is told; null: nobody asks.
  InferContext(const Node& node, std::span<const TensorType* const> types, std::span<const Tensor* const> constants,
               std::vector<ExtentDemand>* demands = nullptr);
  const Node& node() const { return m_node; }
  std::size_t inputCount() const { return m_inputs.size(); }
  bool hasInput(std::size_t i) const { return i < m_inputs.size() && m_inputs[i] != nullptr; }
  const TensorType& input(std::size_t i) const { return *m_inputs[i]; }  ///< hasInput(i) must hold
  /// The value of input `i` if it is known and has data, else null.
  const Tensor* constant(std::size_t i) const { return i < m_constants.size() ? m_constants[i] : nullptr; }
  /// The types of what the body under `attribute` captures, and their values where known (null where not).
  std::span<const TensorType* const> captures(const std::string& attribute) const;
  std::span<const Tensor* const> constantCaptures(const std::string& attribute) const;
  /// Where extents are open, a shape function cannot check them: it says what it would check.
  void demand(ExtentDemand demanded) const {
    if (m_demands != nullptr) m_demands->push_back(std::move(demanded));
  }

 private:
  const Node& m_node;
  std::span<const TensorType* const> m_inputs;  ///< operands: without the captures
  std::span<const Tensor* const> m_constants;
  std::span<const TensorType* const> m_captures;
  std::span<const Tensor* const> m_constantCaptures;
  std::vector<ExtentDemand>* m_demands;
};

/// What a reference kernel sees: whole tensors, and the output types that inference gave for them. runNode() makes
/// it: inputs have data, their types passed the shape function, and output extents are known unless the schema says
/// that they depend on the data.
class KernelContext {
 public:
  /// `operands` as operands() of ir/graph.h.
  KernelContext(const Node& node, std::span<const Tensor* const> operands, std::span<const TensorType> outputs,
                StopToken stop = {});
  const Node& node() const { return m_node; }
  std::size_t inputCount() const { return m_inputs.size(); }
  bool hasInput(std::size_t i) const { return i < m_inputs.size() && m_inputs[i] != nullptr; }
  const Tensor& input(std::size_t i) const { return *m_inputs[i]; }  ///< hasInput(i) must hold
  /// What the body under `attribute` captures, as the last inputs of its graph.
  std::span<const Tensor* const> captures(const std::string& attribute) const;
  std::size_t outputCount() const { return m_outputs.size(); }
  const TensorType& output(std::size_t i) const { return m_outputs[i]; }
  DataType outputType(std::size_t i) const { return m_outputs[i].dtype; }
  Dims outputDims(std::size_t i) const { return m_outputs[i].shape.fixed().value(); }
  const StopToken& stop() const { return m_stop; }  ///< asked by kernels that run bodies

 private:
  const Node& m_node;
  std::span<const Tensor* const> m_inputs;  ///< operands: without the captures
  std::span<const Tensor* const> m_captures;
  std::span<const TensorType> m_outputs;
  StopToken m_stop;
};

/// One type per output of the node. An error is a wrong network: it names what does not fit, and where.
using InferFunction = std::function<Result<std::vector<TensorType>>(const InferContext&)>;
/// Types of what a node hands to the body under `attribute` in every iteration, without what the body captures.
using BodyInputsFunction = std::function<Result<std::vector<TensorType>>(const InferContext&, const std::string&)>;
/// One tensor per output of the node, of the types the inputs imply. Plain, obvious, the oracle for every backend.
/// Floats accumulate in float32 or wider; f16 and bf16 inputs are computed in float32 and rounded once at the end.
using KernelFunction = std::function<Result<std::vector<Tensor>>(const KernelContext&)>;
/// Multiply-adds count as two; data movement and views count 0. Concrete extents.
using FlopsFunction =
    std::function<std::int64_t(const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs)>;

/// Which element types the inputs may have. One letter per input, the last repeated for all that follow; inputs with
/// equal letters must have equal types. A letter that is not listed stands for any type.
struct OpSignature {
  std::string inputs;
  std::vector<std::pair<char, TypeSet>> letters;
};

/// All that is known of an operator in its canonical (newest) form.
struct OpSchema {
  std::string op;
  std::string domain;  ///< "" is ai.onnx
  OpKind kind = OpKind::Other;
  int minInputs = 0;
  int maxInputs = 0;  ///< -1: any number
  InferFunction infer;
  KernelFunction kernel;      ///< empty: cannot be run (yet); inspect says so
  FlopsFunction flops;        ///< empty: one per output element
  bool deterministic = true;  ///< false: Random…, never folded, never shared
  int maxOutputs = 1;         ///< -1: any number
  OpSignature signature;
  bool extentsDependOnData = false;  ///< Compress, Unique, NonZero …: extents are known only after running
  bool takesContainers = false;      ///< inputs may be sequences and optionals; its functions check which
  BodyInputsFunction bodyInputs;     ///< of operators that run bodies
};

/// The operators, looked up by name. The list of families is explicit: families.inc.
class OpRegistry {
 public:
  static const OpRegistry& standard();
  const OpSchema* find(std::string_view domain, std::string_view op) const;
  const OpSchema* find(const Node& node) const { return find(node.domain, node.op); }
  std::vector<const OpSchema*> all() const;  ///< by name
  void add(OpSchema schema);                 ///< used by the families' register functions

 private:
  /// Looked up without making strings: domain and operator.
  using Name = std::pair<std::string_view, std::string_view>;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Name& name) const {
      return std::hash<std::string_view>()(name.second) + name.first.size();
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Name& a, const Name& b) const { return a == b; }
  };
  std::unordered_map<std::pair<std::string, std::string>, OpSchema, Hash, Equal> m_schemas;
};

/// `inputs` and `constants` are by operand (operands() of ir/graph.h). Checks arity, runs the schema's function, and
/// locates errors at the node. An operator without a schema gives outputs of unknown type. `demands`, if given, gets
/// what the node needs of open extents.
Result<std::vector<TensorType>> inferNode(const Node& node, std::span<const TensorType* const> inputs,
                                          std::span<const Tensor* const> constants,
                                          std::vector<ExtentDemand>* demands = nullptr);
/// `inputs` are by operand. Runs the reference kernel; an operator without one is an error that names it. Only control
/// flow asks `stop`: what else may run long is bounded by the size of its tensors.
Result<std::vector<Tensor>> runNode(const Node& node, std::span<const Tensor* const> inputs,
                                    const StopToken& stop = {});
std::int64_t flopsOf(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs);

}  // namespace fusescope
