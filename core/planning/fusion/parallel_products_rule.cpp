#include <algorithm>
#include <set>

#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns whether the node is a product x · w with a constant w, and the first node of a kernel of its own kind.
bool isProductOf(const RegionBuilder& state, const Node& node, ValueId x) {
  const Graph& graph = state.graph();
  if (!state.fusible(node.id) || state.rootOf(node.id) != node.id || node.input(0) != x) return false;
  const std::string_view kind = state.kindOf(node.id);
  const bool product = node.is("MatMul")
                           ? kind == kinds::kMatMul
                           : node.is("Gemm") && kind == kinds::kGemm && node.intAttribute("transA", 0) == 0;
  return product && node.input(1).valid() && graph.isConstant(node.input(1)) &&
         graph.value(node.input(1)).type.shape.rank() == 2;
}

bool isProduct(const Node& node) {
  return node.is("MatMul") || node.is("Gemm");
}

/// Merges the kernel of `more` into that of `first`; each product keeps its epilogue and its output.
bool joinProducts(RegionBuilder& state, NodeId first, NodeId more) {
  return state.tryMerge({.nodes = {first, more},
                         .root = first,
                         .kind = state.kindOf(first),
                         .rules = {"parallel_products"},
                         .oneType = {first, more},
                         .bindings = state.bindingsOf(more)});
}

/// Records why products of values that Casts make of one value do not join those of `x`: the kernel reads only one
/// value.
void explainOtherCasts(RegionBuilder& state, const Node& first, ValueId x) {
  const Graph& graph = state.graph();
  std::vector<ValueId> forms{beforeCasts(graph, x)};
  for (std::size_t i = 0; i < forms.size(); ++i)
    for (const NodeId id : graph.value(forms[i]).consumers) {
      const Node& reader = graph.node(id);
      if (isFloatCast(graph, reader)) forms.push_back(reader.outputs.front());
      if (forms[i] == x || state.rank(id) < state.rank(first.id) || reader.op != first.op) continue;
      if (!isProductOf(state, reader, forms[i])) continue;
      state.refuse("fuse.other_cast", "parallel_products", first.id, id,
                   {{"value", graph.value(x).name}, {"other", graph.value(forms[i]).name}});
    }
}

//   x ─┬─ MatMul a ─ …
//      ├─ MatMul b ─ …      weights side by side: x is read once
//      └─ MatMul c ─ …
void fuseParallelProducts(RegionBuilder& state) {
  const Graph& graph = state.graph();
  // The first product of a value is merged with the others; if types differ, this is done for each type.
  std::set<std::pair<ValueId, DataType>> seen;
  for (const NodeId first : state.scope()) {
    const Node& node = graph.node(first);
    const ValueId x = node.input(0);
    if (!isProduct(node) || !isProductOf(state, node, x) || !seen.emplace(x, state.typeOf(first)).second ||
        state.isSeparatedByPrice(first))
      continue;
    for (const NodeId other : graph.value(x).consumers) {
      const Node& product = graph.node(other);
      const bool fits = other != first && product.op == node.op && isProductOf(state, product, x);
      if (fits && !state.isSeparatedByPrice(other)) joinProducts(state, first, other);
    }
    explainOtherCasts(state, node, x);
  }
}

}  // namespace

extern const FusionRule kParallelProductsRule{
    .name = "parallel_products", .picture = "x * a, x * b, … of one x and constants", .apply = fuseParallelProducts};

std::vector<NodeId> parallelProducts(const Graph& graph, const Region& region) {
  if (region.kind != kinds::kMatMul && region.kind != kinds::kGemm) return {};
  const ValueId x = graph.node(region.root).input(0);
  std::vector<NodeId> products;
  std::ranges::copy_if(region.nodes, std::back_inserter(products),
                       [&](NodeId id) { return isProduct(graph.node(id)) && graph.node(id).input(0) == x; });
  return products.size() < 2 ? std::vector<NodeId>() : products;
}

}  // namespace fusescope
