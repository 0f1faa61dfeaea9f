#include <algorithm>
#include <array>

#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Kernels that quantise what they write and dequantise what they read.
bool takesQuantization(std::string_view kind) {
  constexpr std::array kKinds = {kinds::kConv, kinds::kMatMul,    kinds::kGemm,    kinds::kPointwise,
                                 kinds::kPool, kinds::kConcat,    kinds::kSoftmax, kinds::kLayerNorm,
                                 kinds::kRmsNorm, kinds::kReduce, kinds::kResize,  kinds::kTranspose};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

bool join(RegionBuilder& state, NodeId host, NodeId guest, Binding binding) {
  if (!state.fusible(host) || !takesQuantization(state.kindOf(host))) return false;
  return state.tryMerge({.nodes = {host, guest},
                         .root = state.rootOf(host),
                         .kind = state.kindOf(host),
                         .rules = {"quantize"},
                         .deliversInner = state.kindOf(host) == kinds::kPointwise,
                         .bindings = {binding}});
}

bool joinReader(RegionBuilder& state, const Node& node, Binding binding) {
  const Node* reader = onlyConsumer(state.graph(), node.outputs.front());
  return reader != nullptr && reader->input(0).valid() && join(state, reader->id, node.id, binding);
}

bool joinWriter(RegionBuilder& state, const Node& node, Binding binding) {
  const ValueId value = node.input(0);
  const NodeId writer = state.graph().value(value).producer;
  return writer.valid() && onlyConsumer(state.graph(), value) != nullptr && join(state, writer, node.id, binding);
}

Binding quantizes(const Node& node) {
  return {roles::kQuantize, node.outputs.front(), node.id};
}

Binding dequantizes(const Node& node) {
  return {roles::kDequantize, node.input(0), node.id};
}

template <class Apply>
void eachAlone(RegionBuilder& state, std::string_view op, const Apply& apply) {
  for (const NodeId id : state.scope()) {
    const Node& node = state.graph().node(id);
    if (node.is(op) && state.alone(id)) apply(node);
  }
}

}  // namespace

//   DequantizeLinear ─ kernel ─ QuantizeLinear      arithmetic of the kernel that reads and writes the integers
//   QuantizeLinear ─ DequantizeLinear ─ kernel      where nothing before it could quantise
//   kernel ─ QuantizeLinear ─ DequantizeLinear      where nothing behind it dequantises
void fuseQuantized(RegionBuilder& state) {
  eachAlone(state, "DequantizeLinear", [&](const Node& node) { joinReader(state, node, dequantizes(node)); });
  eachAlone(state, "QuantizeLinear", [&](const Node& node) {
    if (!joinWriter(state, node, quantizes(node))) joinReader(state, node, quantizes(node));
  });
  eachAlone(state, "DequantizeLinear", [&](const Node& node) { joinWriter(state, node, dequantizes(node)); });
}

}  // namespace fusescope
