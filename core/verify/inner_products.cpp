#include "verify/inner_products.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "backends/reference/convert_elements.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

bool isProduct(const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  return schema != nullptr && (schema->kind == OpKind::Convolution || schema->kind == OpKind::MatMul);
}

}  // namespace

double rmsOf(const Tensor& tensor) {
  double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double value = tensor.asDouble(i);
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++count;
  }
  return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

double rmsOfInnerProducts(const KernelRequest& request, std::span<const Tensor> inputs, const StopToken& stop) {
  const Graph& graph = request.plan->graph();
  const FusedNode& fused = *request.fused;
  const auto isInner = [&](NodeId id) {
    return isProduct(graph.node(id)) &&
           std::ranges::find(fused.outputs, graph.node(id).outputs.front(), &FusedOutput::value) == fused.outputs.end();
  };
  if (std::ranges::none_of(fused.nodes, isInner)) return 0;
  std::map<ValueId, Tensor> values;
  const auto keep = [&](ValueId value, const Tensor& tensor) {
    values[value] = convertedTensor(tensor, graph.value(value).type.dtype);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) keep(fused.inputs[i], inputs[i]);
  for (const auto& [value, constant] : request.constants) keep(value, constant);
  double largest = 0;
  for (const NodeId id : fused.nodes) {
    const Node& node = graph.node(id);
    std::vector<const Tensor*> given;
    for (const ValueId operand : operands(node)) {
      const auto known = values.find(operand);
      if (operand.valid() && known == values.end()) return largest;
      given.push_back(operand.valid() ? &known->second : nullptr);
    }
    const auto made = runNode(node, given, stop);
    if (!made.ok()) return largest;
    for (std::size_t i = 0; i < made.value().size() && i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) keep(node.outputs[i], made.value()[i]);
    if (isInner(id)) largest = std::max(largest, rmsOf(made.value().front()));
  }
  return largest;
}

}  // namespace fusescope
