#include "planning/fusion/match.h"

#include <algorithm>
#include <set>

#include "analysis/users.h"
#include "ops/op_schema.h"

namespace fusescope {

namespace {

bool hasKind(const Node& node, OpKind kind) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  return schema != nullptr && schema->kind == kind;
}

}  // namespace

bool isElementwise(const Node& node) {
  return node.outputs.size() == 1 && hasKind(node, OpKind::Elementwise);
}

namespace {

/// Returns whether the node is a Transpose that moves only axes of one element.
bool movesNothing(const Graph& graph, const Node& node) {
  if (!node.is("Transpose")) return false;
  const Shape& shape = graph.value(node.input(0)).type.shape;
  const std::vector<std::int64_t> order = node.intsAttribute("perm");
  if (!shape.ranked || order.size() != shape.rank()) return false;
  std::int64_t last = -1;
  for (std::int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.rank())) return false;
    if (shape.dims[static_cast<std::size_t>(axis)].size == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

bool isView(const Graph& graph, const Node& node) {
  if (movesNothing(graph, node)) return true;
  if (node.inputs.empty() || !hasKind(node, OpKind::View)) return false;
  const bool oneOutput =
      std::count_if(node.outputs.begin(), node.outputs.end(), [](ValueId value) { return value.valid(); }) == 1;
  return oneOutput && node.outputs.front().valid() &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId value) { return !value.valid() || graph.isConstant(value); });
}

bool isFloatCast(const Graph& graph, const Node& node) {
  const auto exchangeable = [&](ValueId value) {
    const DataType type = value.valid() ? graph.value(value).type.dtype : DataType::Undefined;
    return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
  };
  return node.is("Cast") && node.outputs.size() == 1 && exchangeable(node.input(0)) && exchangeable(node.outputs[0]);
}

bool sameExtents(const Graph& graph, ValueId a, ValueId b) {
  const Shape& first = graph.value(a).type.shape;
  return extentsKnown(graph, a) && first == graph.value(b).type.shape;
}

bool extentsKnown(const Graph& graph, ValueId value) {
  const Shape& shape = graph.value(value).type.shape;
  return shape.ranked && std::all_of(shape.dims.begin(), shape.dims.end(),
                                     [](const Dim& dim) { return dim.known() || !dim.symbol.empty(); });
}

bool isScalarConstant(const Graph& graph, ValueId value) {
  if (!value.valid() || !graph.isConstant(value)) return false;
  return graph.value(value).constant->count() == 1;
}

bool isConstantNumber(const Graph& graph, ValueId value, double number) {
  if (!isScalarConstant(graph, value)) return false;
  const Tensor* data = graph.constantData(value);
  return data != nullptr && data->type() != DataType::String && data->asDouble(0) == number;
}

bool broadcastsTo(const Graph& graph, ValueId value, ValueId to) {
  const Shape& from = graph.value(value).type.shape;
  const Shape& target = graph.value(to).type.shape;
  if (!from.ranked || !target.ranked || from.rank() > target.rank()) return false;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    const Dim& own = from.dims[from.rank() - 1 - i];
    const Dim& other = target.dims[target.rank() - 1 - i];
    const bool equal = own == other && (own.known() || !own.symbol.empty());
    if (!equal && own.size != 1) return false;
  }
  return true;
}

ValueId beforeCasts(const Graph& graph, ValueId value, std::vector<NodeId>* casts) {
  for (const Node* cast = producerIf(graph, value, "Cast"); cast != nullptr && isFloatCast(graph, *cast);
       cast = producerIf(graph, value, "Cast")) {
    if (casts != nullptr) casts->push_back(cast->id);
    value = cast->input(0);
  }
  return value;
}

ValueId behindCasts(const Graph& graph, ValueId value, std::vector<NodeId>& casts) {
  for (const Node* cast = onlyConsumer(graph, value); cast != nullptr && isFloatCast(graph, *cast);
       cast = onlyConsumer(graph, value)) {
    casts.push_back(cast->id);
    value = cast->outputs.front();
  }
  return value;
}

const Node* producerIf(const Graph& graph, ValueId value, std::string_view op) {
  if (!value.valid() || !graph.value(value).producer.valid()) return nullptr;
  const Node& node = graph.node(graph.value(value).producer);
  return node.is(op) ? &node : nullptr;
}

const Node* onlyConsumer(const Graph& graph, ValueId value) {
  return hasSingleUse(graph, value) ? &graph.node(graph.value(value).consumers.front()) : nullptr;
}

const Node* onlyConsumerIf(const Graph& graph, ValueId value, std::string_view op) {
  const Node* node = onlyConsumer(graph, value);
  return node != nullptr && node->is(op) ? node : nullptr;
}

const Node* consumerIf(const Graph& graph, ValueId value, std::string_view op) {
  const Node* found = nullptr;
  for (NodeId id : graph.value(value).consumers) {
    if (!graph.node(id).is(op)) continue;
    if (found != nullptr) return nullptr;
    found = &graph.node(id);
  }
  return found;
}

ValueId otherOperand(const Node& node, ValueId operand) {
  return node.input(0) == operand ? node.input(1) : node.input(0);
}

bool isLastAxis(const Graph& graph, const Node& node, std::int64_t axis) {
  const Shape& shape = graph.value(node.input(0)).type.shape;
  if (!shape.ranked) return axis == -1;
  return axis == -1 || axis == static_cast<std::int64_t>(shape.rank()) - 1;
}

std::size_t reducedLastAxes(const Graph& graph, const Node& node) {
  if (node.is("GlobalAveragePool")) {
    const Shape& pooled = graph.value(node.input(0)).type.shape;
    return pooled.ranked && pooled.rank() >= 3 ? pooled.rank() - 2 : 0;
  }
  if (node.intAttribute("keepdims", 1) != 1 || !node.input(0).valid()) return 0;
  std::vector<std::int64_t> axes = node.intsAttribute("axes");
  if (node.input(1).valid()) {
    const Tensor* data = graph.constantData(node.input(1));
    if (data == nullptr) return 0;
    for (std::int64_t i = 0; i < data->count(); ++i) axes.push_back(data->asInt64(i));
  }
  const Shape& shape = graph.value(node.input(0)).type.shape;
  if (!shape.ranked) return axes.size() == 1 && axes.front() == -1 ? 1 : 0;
  const auto rank = static_cast<std::int64_t>(shape.rank());
  std::set<std::int64_t> taken;
  for (const std::int64_t axis : axes) taken.insert(axis < 0 ? axis + rank : axis);
  const bool last =
      !taken.empty() && *taken.rbegin() == rank - 1 && *taken.begin() == rank - static_cast<std::int64_t>(taken.size());
  return last ? taken.size() : 0;
}

}  // namespace fusescope
