#include "passes/extent_trial.h"

#include <algorithm>

#include "ops/body_flow.h"

namespace fusescope {
namespace {

constexpr std::int64_t kMostElements = 16;  // elements of a constant that may be a shape

using Position = std::vector<std::size_t>;

Position extended(Position position, std::size_t index) {
  position.push_back(index);
  return position;
}

/// Returns the bodies of a node, in the order of their attributes' names.
std::vector<std::pair<std::string, const Graph*>> bodiesOf(const Node& node) {
  std::vector<std::pair<std::string, const Graph*>> bodies;
  for (const auto& [key, attribute] : node.attributes)
    if (const auto* body = std::get_if<Subgraph>(&attribute)) bodies.emplace_back(key, body->graph.get());
  return bodies;
}

/// Returns the position of the node with this name in `graph` or, if there is none, in its bodies.
std::optional<Position> positionOf(const Graph& graph, const std::string& name, const Position& holder) {
  const auto& order = graph.order();
  for (std::size_t i = 0; i < order.size(); ++i)
    if (graph.node(order[i]).name == name) return extended(holder, i);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto bodies = bodiesOf(graph.node(order[i]));
    for (std::size_t b = 0; b < bodies.size(); ++b)
      if (auto found = positionOf(*bodies[b].second, name, extended(extended(holder, i), b))) return found;
  }
  return std::nullopt;
}

/// A node, and the graph that contains it.
struct Place {
  const Graph* graph = nullptr;
  const Node* node = nullptr;
};

Place placeAt(const Graph& graph, const Position& position, std::size_t depth = 0) {
  if (depth >= position.size() || position[depth] >= graph.order().size()) return {};
  const Node& node = graph.node(graph.order()[position[depth]]);
  if (depth + 1 >= position.size()) return {&graph, &node};
  const auto bodies = bodiesOf(node);
  if (position[depth + 1] >= bodies.size()) return {};
  return placeAt(*bodies[position[depth + 1]].second, position, depth + 2);
}

/// Returns whether it is the branch of an If that is not taken, because its condition is known.
bool isNotTaken(const Node& node, const std::string& attribute, const TypeFlow& flow) {
  if (!node.is("If") || !node.input(0).valid()) return false;
  const auto& condition = flow.known[node.input(0).index];
  if (condition == nullptr || condition->type() != DataType::Bool || condition->count() != 1) return false;
  return (condition->asInt64(0) != 0) != (attribute == "then_branch");
}

Result<TypeFlow> flowInto(const Node& node, const std::string& attribute, const TypeFlow& flow) {
  std::vector<const TensorType*> types;
  std::vector<const Tensor*> constants;
  for (const ValueId id : operands(node)) {
    types.push_back(id.valid() ? &flow.types[id.index] : nullptr);
    constants.push_back(id.valid() ? flow.known[id.index].get() : nullptr);
  }
  return flowBody(node, attribute, types, constants);
}

/// Searches the bodies of a graph for a node that cannot work.
class BodyTrial {
 public:
  /// `taken` is the branch that an If of the outermost graph takes, if that is decided.
  BodyTrial(Branches branches, const std::optional<BodyPlace>& taken) : m_branches(branches), m_taken(taken) {}

  /// `holder` is the place of the body whose graph this is; empty for the outermost graph.
  std::optional<Misfit> misfit(const Graph& graph, const TypeFlow& flow, const Position& holder) const {
    for (std::size_t i = 0; i < graph.order().size(); ++i)
      if (auto found = misfitOf(graph.node(graph.order()[i]), flow, extended(holder, i))) return found;
    return std::nullopt;
  }

 private:
  std::optional<Misfit> misfitOf(const Node& node, const TypeFlow& flow, const Position& place) const {
    const auto bodies = bodiesOf(node);
    const bool oneIsEnough = node.is("If") && m_branches == Branches::One;
    std::optional<Misfit> last;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      if (isNotTaken(node, bodies[b].first, flow) || isLeftOut(bodies[b].first, place)) continue;
      last = misfitInside(node, bodies[b], flow, extended(place, b));
      if (last.has_value() != oneIsEnough) return last;
    }
    return last;
  }

  std::optional<Misfit> misfitInside(const Node& node, const std::pair<std::string, const Graph*>& body,
                                     const TypeFlow& flow, const Position& place) const {
    const auto inner = flowInto(node, body.first, flow);
    if (inner.ok()) return misfit(*body.second, inner.value(), place);
    const auto found = positionOf(*body.second, inner.error().where.node, place);
    return Misfit{.inBody = true, .position = found.value_or(place), .error = inner.error()};
  }

  bool isLeftOut(const std::string& attribute, const Position& place) const {
    return m_taken && place.size() == 1 && place.front() == m_taken->holder && attribute != m_taken->attribute;
  }

  const Branches m_branches;
  const std::optional<BodyPlace>& m_taken;
};

/// Returns the number of axes along which `node` pools in adjacent windows and leaves a remainder.
std::size_t restsOf(const Node& node, const TypeFlow& flow) {
  if (!(node.is("MaxPool") || node.is("AveragePool")) || node.intAttribute("ceil_mode", 0) != 0) return 0;
  if (!node.input(0).valid() || node.textAttribute("auto_pad", "NOTSET") != "NOTSET") return 0;
  const Shape& shape = flow.types[node.input(0).index].shape;
  const auto windows = node.intsAttribute("kernel_shape"), pads = node.intsAttribute("pads");
  const auto strides = node.intsAttribute("strides");
  if (shape.rank() != windows.size() + 2 || strides != windows || std::ranges::count(windows, 0) != 0) return 0;
  std::size_t rests = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::int64_t padding = pads.size() == 2 * windows.size() ? pads[i] + pads[i + windows.size()] : 0;
    const Dim& extent = shape.dims[i + 2];
    rests += extent.known() && (extent.size + padding) % windows[i] != 0 ? 1 : 0;
  }
  return rests;
}

}  // namespace

std::string problemOf(const Diagnostic& error) {
  Diagnostic plain = error;
  plain.where.file.clear();
  plain.help.clear();
  return plain.text();
}

Result<std::size_t> ExtentTrial::rests(const std::vector<TensorType>& inputs, const StopToken& stop) const {
  const TypeFlow flow =
      TRY(flowTypes(m_graph, inputs, {.declared = DeclaredTypes::Fill, .compute = ComputeValues::Small}, stop));
  std::size_t rests = 0;
  for (const NodeId id : m_graph.order()) rests += restsOf(m_graph.node(id), flow);
  return rests;
}

Result<std::optional<Misfit>> ExtentTrial::misfit(const std::vector<TensorType>& inputs, Branches branches,
                                                  const StopToken& stop) const {
  const auto flow =
      flowTypes(m_graph, inputs, {.declared = DeclaredTypes::Fill, .compute = ComputeValues::Small}, stop);
  if (flow.ok()) return BodyTrial(branches, m_taken).misfit(m_graph, flow.value(), {});
  if (flow.error().cancelled) return flow.error();
  const auto found = positionOf(m_graph, flow.error().where.node, {});
  return std::optional(Misfit{.position = found.value_or(Position()), .error = flow.error()});
}

ExtentTrial ExtentTrial::taking(BodyPlace only) const {
  ExtentTrial trial(m_graph);
  trial.m_taken = std::move(only);
  return trial;
}

std::vector<BodyPlace> ExtentTrial::branchesOf(std::size_t holder) const {
  std::vector<BodyPlace> branches;
  const Node& node = m_graph.node(m_graph.order().at(holder));
  if (!node.is("If")) return branches;
  for (const auto& [attribute, body] : bodiesOf(node)) branches.push_back({holder, attribute});
  return branches;
}

std::vector<std::int64_t> ExtentTrial::numbersAt(const Misfit& misfit) const {
  std::vector<std::int64_t> numbers;
  const auto add = [&](std::int64_t number) {
    if (number > 0 && std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
  };
  const auto [graph, node] = placeAt(m_graph, misfit.position);
  if (node == nullptr) return numbers;
  for (const std::int64_t window : node->intsAttribute("kernel_shape")) add(window);
  for (const ValueId input : node->inputs) {
    if (!input.valid()) continue;
    const Tensor* constant = graph->constantData(input);
    if (constant != nullptr && isInteger(constant->type()) && constant->count() <= kMostElements)
      for (std::int64_t i = 0; i < constant->count(); ++i) add(constant->asInt64(i));
    for (const Dim& dim : graph->value(input).type.shape.dims)
      if (dim.known()) add(dim.size);
  }
  return numbers;
}

std::vector<std::size_t> ExtentTrial::inputsBehind(const Misfit& misfit) const {
  std::vector<bool> behind(m_graph.valueIdLimit(), misfit.position.empty());
  std::vector<NodeId> pending;
  if (!misfit.position.empty()) pending.push_back(m_graph.order().at(misfit.position[0]));
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    for (const ValueId value : operands(m_graph.node(id))) {
      if (!value.valid() || behind[value.index]) continue;
      behind[value.index] = true;
      if (m_graph.value(value).producer.valid()) pending.push_back(m_graph.value(value).producer);
    }
  }
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < m_graph.inputs().size(); ++i)
    if (behind[m_graph.inputs()[i].index]) inputs.push_back(i);
  return inputs;
}

}  // namespace fusescope
