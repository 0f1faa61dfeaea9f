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

/// The family of an operator, which planners and views use.
enum class OpKind {
  Elementwise,  ///< each output element is computed from the input elements at the same (broadcast) position
  Convolution,
  MatMul,
  Pooling,
  Normalization,
  Softmax,
  Reduction,
  View,      ///< the same elements in the same order with other extents: Reshape, Squeeze, Flatten, Identity …
  Movement,  ///< elements are moved, and none is computed: Transpose, Concat, Slice, Gather …
  Shape,     ///< computes with extents: Shape, Size, ConstantOfShape, Range
  Quantization,
  ControlFlow,
  Recurrence,
  Random,
  Other,
};
std::string_view name(OpKind kind);  ///< "elementwise", "matmul", …

/// A property of extents that a node needs. If the extents are known, it is an error if the property is false.
struct ExtentDemand {
  Dim left, right;
  bool atMost = false;  ///< left <= right; otherwise left == right
};

/// Returns how many of a node's operands are values that its bodies capture. They are the last ones.
std::size_t captureCount(const Node& node);

/// The input of a shape function: the types of the operands (with symbols), and their values where they are known.
class InferContext {
 public:
  /// Both spans have one element per operand (operands() of ir/graph.h). `demands` gets what demand() is called with;
  /// it may be null.
  InferContext(const Node& node, std::span<const TensorType* const> types, std::span<const Tensor* const> constants,
               std::vector<ExtentDemand>* demands = nullptr);
  const Node& node() const { return m_node; }
  std::size_t inputCount() const { return m_inputs.size(); }
  std::span<const TensorType* const> inputs() const { return m_inputs; }  ///< null for those that are absent
  bool hasInput(std::size_t i) const { return i < m_inputs.size() && m_inputs[i] != nullptr; }
  const TensorType& input(std::size_t i) const { return *m_inputs[i]; }  ///< hasInput(i) must hold
  /// Returns the value of input `i` if it is known and has data; otherwise null.
  const Tensor* constant(std::size_t i) const { return i < m_constants.size() ? m_constants[i] : nullptr; }
  /// Return the types of the values that the body in `attribute` captures, and these values where they are known
  /// (otherwise null).
  std::span<const TensorType* const> captures(const std::string& attribute) const;
  std::span<const Tensor* const> constantCaptures(const std::string& attribute) const;
  /// Records a property of open extents that the shape function would check if they were known.
  void demand(ExtentDemand demanded) const {
    if (m_demands != nullptr) m_demands->push_back(std::move(demanded));
  }

 private:
  const Node& m_node;
  std::span<const TensorType* const> m_inputs;  ///< the operands without the captures
  std::span<const Tensor* const> m_constants;
  std::span<const TensorType* const> m_captures;
  std::span<const Tensor* const> m_constantCaptures;
  std::vector<ExtentDemand>* m_demands;
};

/// The input of a reference kernel: whole tensors, and the output types from inference. runNode() makes it: the inputs
/// have data, the shape function has accepted their types, and the output extents are known unless the schema says that
/// they depend on the data.
class KernelContext {
 public:
  /// `operands` are in the order of operands() in ir/graph.h.
  KernelContext(const Node& node, std::span<const Tensor* const> operands, std::span<const TensorType> outputs,
                StopToken stop = {});
  const Node& node() const { return m_node; }
  std::size_t inputCount() const { return m_inputs.size(); }
  bool hasInput(std::size_t i) const { return i < m_inputs.size() && m_inputs[i] != nullptr; }
  const Tensor& input(std::size_t i) const { return *m_inputs[i]; }  ///< hasInput(i) must hold
  /// Returns the values that the body in `attribute` captures; they are the last inputs of its graph.
  std::span<const Tensor* const> captures(const std::string& attribute) const;
  std::size_t outputCount() const { return m_outputs.size(); }
  const TensorType& output(std::size_t i) const { return m_outputs[i]; }
  DataType outputType(std::size_t i) const { return m_outputs[i].dtype; }
  Dims outputDims(std::size_t i) const { return m_outputs[i].shape.fixed().value(); }
  const StopToken& stop() const { return m_stop; }  ///< kernels that run bodies check it

 private:
  const Node& m_node;
  std::span<const Tensor* const> m_inputs;  ///< the operands without the captures
  std::span<const Tensor* const> m_captures;
  std::span<const TensorType> m_outputs;
  StopToken m_stop;
};

/// Returns one type per output of the node. An error means that the network is wrong; it says what does not fit, and
/// where.
using InferFunction = std::function<Result<std::vector<TensorType>>(const InferContext&)>;
/// Returns the types that a node passes to the body in `attribute` in every iteration, without the captured values.
using BodyInputsFunction = std::function<Result<std::vector<TensorType>>(const InferContext&, const std::string&)>;
/// Computes one tensor per output of the node, with the types that follow from the inputs. The code is as simple as
/// possible, because every backend is compared with it. Floats accumulate in float32 or wider; f16 and bf16 inputs are
/// computed in float32, and results are rounded once at the end.
using KernelFunction = std::function<Result<std::vector<Tensor>>(const KernelContext&)>;
/// Counts floating-point operations at known extents. A multiply-add counts as two; data movement and views count 0.
using FlopsFunction =
    std::function<std::int64_t(const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs)>;

/// Which element types the inputs may have. There is one letter per input, and the last letter also applies to all
/// further inputs. Inputs with the same letter must have the same type. A letter that is not listed allows any type.
struct OpSignature {
  std::string inputs;
  std::vector<std::pair<char, TypeSet>> letters;
};

/// Everything that is known of an operator in its newest form.
struct OpSchema {
  std::string op;
  std::string domain;  ///< empty for ai.onnx
  OpKind kind = OpKind::Other;
  int minInputs = 0;
  int maxInputs = 0;  ///< -1: any number
  InferFunction infer;
  KernelFunction kernel;      ///< empty if the operator has no kernel, so that it cannot run
  FlopsFunction flops;        ///< empty: one operation per output element
  bool deterministic = true;  ///< false for Random…; such nodes are never folded and never merged
  int maxOutputs = 1;         ///< -1: any number
  OpSignature signature;
  bool extentsDependOnData = false;  ///< extents are known only after the node ran: Compress, Unique, NonZero …
  bool takesContainers = false;      ///< inputs may be sequences and optionals; the functions check which
  BodyInputsFunction bodyInputs;     ///< for operators that run bodies
};

/// All operators, by name. The families are listed in families.inc.
class OpRegistry {
 public:
  static const OpRegistry& standard();
  const OpSchema* find(std::string_view domain, std::string_view op) const;
  const OpSchema* find(const Node& node) const { return find(node.domain, node.op); }
  std::vector<const OpSchema*> all() const;  ///< sorted by name
  void add(OpSchema schema);                 ///< called by the register functions of families

 private:
  /// The domain and the operator. Looking them up makes no strings.
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

}  // namespace fusescope
