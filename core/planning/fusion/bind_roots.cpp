#include <algorithm>

#include "planning/fusion/kernel_nodes.h"
#include "planning/fusion/match.h"

// Binds convolutions and products, the codes that they read, and the operations that follow them.
namespace fusescope {
namespace {

using Kind = EpilogueOperation::Kind;

/// Binds the operations that follow the result of one root.
class EpilogueBinder {
 public:
  explicit EpilogueBinder(const KernelNodes& nodes) : m_nodes(nodes), m_bindings(nodes.fused().bindings) {
    const auto count = [&](std::string_view role) { return std::ranges::count(m_bindings, role, &Binding::role); };
    m_takesAll = count(roles::kPart) == 0 || count(roles::kRoot) != 1;
  }

  std::vector<EpilogueOperation> bind(ValueId value) const {
    std::vector<EpilogueOperation> operations;
    while (auto operation = next(value)) {
      value = operation->result;
      operations.push_back(std::move(*operation));
      if (!std::ranges::all_of(operations.back().nodes, [&](NodeId id) { return isPart(id); })) break;
    }
    return operations;
  }

 private:
  /// Returns whether the rule made the node a part of the root's kernel. A rule that binds no parts, or that binds the
  /// parts of several roots, includes everything that follows.
  bool isPart(NodeId id) const {
    const auto isBound = [id](const Binding& binding) {
      return binding.node == id && (binding.role == roles::kPart || binding.role == roles::kQuantize);
    };
    return m_takesAll || isFloatCast(m_nodes.graph(), m_nodes.node(id)) || std::ranges::any_of(m_bindings, isBound);
  }

  /// Returns the operation that is applied to `value`; nullopt if the value has other readers, or if no operation of an
  /// epilogue follows.
  std::optional<EpilogueOperation> next(ValueId value) const {
    if (m_nodes.isOutput(value)) return std::nullopt;
    const std::vector<NodeId> readers = m_nodes.readers(value);
    if (readers.size() == 2) return swish(value, readers);
    if (readers.size() != 1 || !isPart(readers[0])) return std::nullopt;
    const Node& node = m_nodes.node(readers[0]);
    const std::optional<Kind> kind = kindOf(node);
    if (!kind || !node.outputs[0].valid()) return std::nullopt;
    EpilogueOperation operation{.kind = *kind, .nodes = {node.id}, .source = value, .result = node.outputs[0]};
    if (kind == Kind::Sum) return sum(node, std::move(operation));
    if (node.input(0) != value) return std::nullopt;
    return kind == Kind::Quantize ? quantize(std::move(operation)) : operation;
  }

  std::optional<Kind> kindOf(const Node& node) const {
    if (node.is("Add")) return Kind::Sum;
    if (node.is("BatchNormalization")) return Kind::BatchNorm;
    if (node.is("QuantizeLinear")) return Kind::Quantize;
    if (isFloatCast(m_nodes.graph(), node)) return Kind::Cast;
    return isElementwise(node) ? std::optional(Kind::Function) : std::nullopt;
  }

  std::optional<EpilogueOperation> sum(const Node& node, EpilogueOperation operation) const {
    if (node.input(0) == node.input(1)) return std::nullopt;
    operation.operand = otherOperand(node, operation.source);
    operation.operandCodes = m_nodes.codesBefore(operation.operand, false);
    return operation;
  }

  EpilogueOperation quantize(EpilogueOperation operation) const {
    const auto behind = m_nodes.onlyReader(operation.result);
    if (!behind || !m_nodes.node(*behind).is("DequantizeLinear")) return operation;
    operation.nodes.push_back(*behind);
    operation.result = m_nodes.node(*behind).outputs[0];
    return operation;
  }

  std::optional<EpilogueOperation> swish(ValueId value, const std::vector<NodeId>& readers) const {
    const auto reader = [&](std::string_view op) {
      return m_nodes.node(readers[0]).is(op) ? &m_nodes.node(readers[0]) : &m_nodes.node(readers[1]);
    };
    const Node *sigmoid = reader("Sigmoid"), *product = reader("Mul");
    const bool isSwish = sigmoid->is("Sigmoid") && product->is("Mul") && product->inputs[0] != product->inputs[1] &&
                         m_nodes.onlyReader(sigmoid->outputs[0]) == product->id && isPart(sigmoid->id) &&
                         isPart(product->id);
    if (!isSwish) return std::nullopt;
    return EpilogueOperation{
        .kind = Kind::Swish, .nodes = {sigmoid->id, product->id}, .source = value, .result = product->outputs[0]};
  }

  const KernelNodes& m_nodes;
  const Bindings& m_bindings;
  bool m_takesAll = false;
};

}  // namespace

std::vector<RootBinding> bindRoots(const KernelNodes& nodes) {
  std::vector<RootBinding> roots;
  const EpilogueBinder binder(nodes);
  for (const NodeId id : nodes.fused().nodes) {
    const Node& node = nodes.node(id);
    const bool isProduct = node.is("MatMul") || node.is("Gemm");
    if (!isProduct && !node.is("Conv") && !node.is("ConvTranspose")) continue;
    roots.push_back({.kind = isProduct ? RootBinding::Kind::Product : RootBinding::Kind::Convolution,
                     .root = id,
                     .first = nodes.codesBefore(node.input(0), isProduct),
                     .second = nodes.codesBefore(node.input(1), false),
                     .matrix = isProduct ? nodes.matrixBefore(node.input(1)) : MatrixBefore(),
                     .epilogue = binder.bind(node.outputs[0])});
  }
  return roots;
}

}  // namespace fusescope
