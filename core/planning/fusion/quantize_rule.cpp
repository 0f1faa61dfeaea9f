#include <algorithm>
#include <array>

#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns whether kernels of this kind quantise their results and dequantise their operands.
bool takesQuantization(std::string_view kind) {
  constexpr std::array kKinds = {kinds::kConv,    kinds::kMatMul, kinds::kGemm,    kinds::kPointwise,
                                 kinds::kPool,    kinds::kConcat, kinds::kSoftmax, kinds::kLayerNorm,
                                 kinds::kRmsNorm, kinds::kReduce, kinds::kResize,  kinds::kTranspose,
                                 kinds::kGather};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

bool isProduct(std::string_view kind) {
  return kind == kinds::kConv || kind == kinds::kMatMul || kind == kinds::kGemm;
}

/// Merges `guests`, the node that quantises and the nodes between it and `host`, into the kernel of `host`.
bool join(RegionBuilder& state, NodeId host, std::vector<NodeId> guests, Binding binding) {
  if (!state.fusible(host) || !takesQuantization(state.kindOf(host))) return false;
  guests.push_back(host);
  return state.tryMerge({.nodes = std::move(guests),
                         .root = state.rootOf(host),
                         .kind = state.kindOf(host),
                         .rules = {"quantize"},
                         .deliversInner = state.kindOf(host) == kinds::kPointwise,
                         .bindings = {binding}});
}

/// Merges `node` into the only kernel that reads its result, with one or more nodes. A product may also read it after
/// views, and its weights after a Transpose.
bool joinReader(RegionBuilder& state, const Node& node, Binding binding) {
  const Graph& graph = state.graph();
  if (graph.value(node.outputs.front()).consumers.size() > 1) {
    const NodeId reader = onlyReader(state, node);
    return reader.valid() && join(state, reader, {node.id}, binding);
  }
  std::vector<NodeId> guests{node.id};
  const Node* reader = onlyConsumer(graph, node.outputs.front());
  const auto passes = [&](const Node& between) {
    const bool moves = isView(graph, between) || (between.is("Transpose") && graph.isConstant(node.input(0)));
    return moves && state.fusible(between.id) && state.alone(between.id);
  };
  while (reader != nullptr && passes(*reader)) {
    guests.push_back(reader->id);
    reader = onlyConsumer(graph, reader->outputs.front());
  }
  if (reader == nullptr || !state.fusible(reader->id)) return false;
  const bool direct = guests.size() == 1;
  if (!direct && !(isProduct(state.kindOf(reader->id)) && state.rootOf(reader->id) == reader->id)) return false;
  return join(state, reader->id, std::move(guests), binding);
}

bool joinWriter(RegionBuilder& state, const Node& node, Binding binding) {
  const ValueId value = node.input(0);
  const NodeId writer = state.graph().value(value).producer;
  return writer.valid() && onlyConsumer(state.graph(), value) != nullptr && join(state, writer, {node.id}, binding);
}

Binding quantizes(const Node& node) {
  return {roles::kQuantize, node.outputs.front(), node.id};
}

Binding dequantizes(const Node& node) {
  return {roles::kDequantize, node.input(0), node.id};
}

bool isPointwise(const RegionBuilder& state, NodeId node) {
  return state.fusible(node) && state.kindOf(node) == kinds::kPointwise;
}

/// Merges pointwise ─ QuantizeLinear ─ DequantizeLinear ─ pointwise of the same extents; the kernel rounds and clamps
/// between them.
void joinAcross(RegionBuilder& state, const Node& quantize) {
  const Graph& graph = state.graph();
  const NodeId writer = graph.value(quantize.input(0)).producer;
  const Node* dequantize = onlyConsumerIf(graph, quantize.outputs.front(), "DequantizeLinear");
  if (!writer.valid() || !isPointwise(state, writer) || onlyConsumer(graph, quantize.input(0)) == nullptr) return;
  if (dequantize == nullptr || !state.fusible(dequantize->id) || !state.alone(dequantize->id)) return;
  const NodeId reader = onlyReader(state, *dequantize);
  if (!reader.valid() || !isPointwise(state, reader) || !isElementwise(graph.node(reader)) ||
      !sameExtents(graph, quantize.input(0), graph.node(reader).outputs.front()))
    return;
  state.tryMerge({.nodes = {writer, quantize.id, dequantize->id, reader},
                  .root = state.rootOf(writer),
                  .kind = kinds::kPointwise,
                  .rules = {"quantize"},
                  .deliversInner = true,
                  .bindings = {quantizes(quantize), dequantizes(*dequantize)}});
}

/// Merges views between integers: DequantizeLinear ─ view ─ QuantizeLinear.
bool joinOverViews(RegionBuilder& state, const Node& quantize) {
  const Graph& graph = state.graph();
  std::vector<NodeId> nodes{quantize.id};
  for (ValueId value = quantize.input(0);;) {
    const NodeId producer = graph.value(value).producer;
    if (!producer.valid() || !state.fusible(producer) || !state.alone(producer) ||
        onlyConsumer(graph, value) == nullptr)
      return false;
    nodes.push_back(producer);
    const Node& node = graph.node(producer);
    if (node.is("DequantizeLinear"))
      return state.tryMerge({.nodes = std::move(nodes),
                             .root = quantize.id,
                             .kind = kinds::kQuantize,
                             .rules = {"quantize"},
                             .bindings = {dequantizes(node), quantizes(quantize)}});
    if (!isView(graph, node)) return false;
    value = node.input(0);
  }
}

template <class Apply>
void eachAlone(RegionBuilder& state, std::string_view op, const Apply& apply) {
  for (const NodeId id : state.scope()) {
    const Node& node = state.graph().node(id);
    if (node.is(op) && state.alone(id)) apply(node);
  }
}

//
//   f ─ QuantizeLinear ─ DequantizeLinear ─ g       arithmetic between two elementwise nodes
//   DequantizeLinear ─ kernel ─ QuantizeLinear      arithmetic of the kernel that reads and writes the integers
//   QuantizeLinear ─ DequantizeLinear ─ kernel      if no kernel before it can quantise
//   kernel ─ QuantizeLinear ─ DequantizeLinear      if no kernel after it dequantises
void fuseQuantized(RegionBuilder& state) {
  eachAlone(state, "QuantizeLinear", [&](const Node& node) { joinAcross(state, node); });
  eachAlone(state, "DequantizeLinear", [&](const Node& node) { joinReader(state, node, dequantizes(node)); });
  eachAlone(state, "QuantizeLinear", [&](const Node& node) {
    if (!joinOverViews(state, node) && !joinWriter(state, node, quantizes(node)))
      joinReader(state, node, quantizes(node));
  });
  eachAlone(state, "DequantizeLinear", [&](const Node& node) { joinWriter(state, node, dequantizes(node)); });
}

}  // namespace

extern const FusionRule kQuantizeRule{
    .name = "quantize", .picture = "quantize(kernel(dequantize(x)))", .apply = fuseQuantized};

}  // namespace fusescope
