#include "ops/op_schema.h"

#include <algorithm>

namespace fusescope {
namespace {

template <class T>
std::span<T> withoutCaptures(const Node& node, std::span<T> operands) {
  return operands.first(operands.size() - std::min(operands.size(), captureCount(node)));
}

template <class T>
std::span<T> onlyCaptures(const Node& node, std::span<T> operands) {
  return operands.last(std::min(operands.size(), captureCount(node)));
}

/// Returns the captures of one body.
template <class T>
std::span<T> capturesOf(const Node& node, const std::string& attribute, std::span<T> captures) {
  std::size_t offset = 0;
  for (const auto& [key, value] : node.attributes) {
    const auto* body = std::get_if<Subgraph>(&value);
    if (body == nullptr) continue;
    if (key == attribute) return captures.subspan(offset, body->captures.size());
    offset += body->captures.size();
  }
  return {};
}

}  // namespace

std::size_t captureCount(const Node& node) {
  std::size_t count = 0;
  for (const auto& [key, attribute] : node.attributes)
    if (const auto* body = std::get_if<Subgraph>(&attribute)) count += body->captures.size();
  return count;
}

InferContext::InferContext(const Node& node, std::span<const TensorType* const> types,
                           std::span<const Tensor* const> constants, std::vector<ExtentDemand>* demands)
    : m_node(node),
      m_inputs(withoutCaptures(node, types)),
      m_constants(withoutCaptures(node, constants)),
      m_captures(onlyCaptures(node, types)),
      m_constantCaptures(onlyCaptures(node, constants)),
      m_demands(demands) {}

std::span<const TensorType* const> InferContext::captures(const std::string& attribute) const {
  return capturesOf(m_node, attribute, m_captures);
}

std::span<const Tensor* const> InferContext::constantCaptures(const std::string& attribute) const {
  return capturesOf(m_node, attribute, m_constantCaptures);
}

KernelContext::KernelContext(const Node& node, std::span<const Tensor* const> operands,
                             std::span<const TensorType> outputs, StopToken stop)
    : m_node(node),
      m_inputs(withoutCaptures(node, operands)),
      m_captures(onlyCaptures(node, operands)),
      m_outputs(outputs),
      m_stop(std::move(stop)) {}

std::span<const Tensor* const> KernelContext::captures(const std::string& attribute) const {
  return capturesOf(m_node, attribute, m_captures);
}

std::string_view name(OpKind kind) {
  switch (kind) {
    case OpKind::Elementwise:
      return "elementwise";
    case OpKind::Convolution:
      return "convolution";
    case OpKind::MatMul:
      return "matmul";
    case OpKind::Pooling:
      return "pooling";
    case OpKind::Normalization:
      return "normalization";
    case OpKind::Softmax:
      return "softmax";
    case OpKind::Reduction:
      return "reduction";
    case OpKind::View:
      return "view";
    case OpKind::Movement:
      return "movement";
    case OpKind::Shape:
      return "shape";
    case OpKind::Quantization:
      return "quantization";
    case OpKind::ControlFlow:
      return "control_flow";
    case OpKind::Recurrence:
      return "recurrence";
    case OpKind::Random:
      return "random";
    case OpKind::Other:
      break;
  }
  return "other";
}

}  // namespace fusescope
