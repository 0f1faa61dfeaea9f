#include <algorithm>

#include "backends/native/lowering/matrix_product.h"

namespace fusescope::native {
namespace {

// Returns the products of one value by constant matrices, with the biases that follow them. Everything else that
// follows is lowered at its own node.
std::vector<Chain> parallelProducts(const Context& context) {
  const std::vector<Binding> roots = bindingsOf(context.fused().bindings, roles::kRoot);
  if (!context.options().ownMatMul || roots.size() < 2) return {};
  std::vector<Chain> chains;
  const ValueId source = context.node(roots[0].node).input(0);
  for (const RootBinding& bound : kernelBindings(context.fused()).roots) {
    if (std::ranges::find(roots, bound.root, &Binding::node) == roots.end()) continue;
    const Node& root = context.node(bound.root);
    const bool isMatrix = context.dimsOf(root.input(1)).size() == 2 && context.dimsOf(source).size() >= 2;
    if (!isMatrix || !isOwnProduct(context, root) || root.input(0) != source) return {};
    Chain chain = chainAfter(context, bound);
    std::size_t included = 1;
    while (included < chain.nodes.size() && chain.operations[included - 1].kind == Chain::Kind::Bias) ++included;
    chain.nodes.resize(included);
    chain.operations.resize(included - 1);
    chain.result = resultOf(context, chain, included);
    chains.push_back(std::move(chain));
  }
  return chains.size() < 2 ? std::vector<Chain>() : chains;
}

Status emitParallelProducts(Context& context, const std::vector<Chain>& chains) {
  const ValueId source = context.node(chains[0].root).input(0);
  context.define(source, TRY(context.plain(TRY(context.seen(source)))));  // converted once for all products
  std::vector<OwnProduct> products;
  for (const Chain& chain : chains) {
    const Node& root = context.node(chain.root);
    PreparedMatMul product = TRY(prepareMatMul(context, root, DataType::F32, true));
    TRY(foldChain(context, chain, product, true));
    const Ref target = context.allocate(chain.result, {}, context.storedType(chain.result));
    context.define(chain.result, target);
    products.push_back({std::move(product), target});
  }
  return emitOwnProducts(context, std::move(products));
}

void claimParallelProducts(Context& context, Units& units) {
  std::vector<Chain> chains = parallelProducts(context);
  if (chains.empty()) return;
  std::set<NodeId> nodes;
  for (const Chain& chain : chains) nodes.insert(chain.nodes.begin(), chain.nodes.end());
  const NodeId first = chains.front().root;
  const auto emit = [chains = std::move(chains)](Context& at) -> Status {
    TRY(at.flush());
    return emitParallelProducts(at, chains);
  };
  units.add(first, emit, nodes);
}

}  // namespace

extern const Emitter kParallelProductsEmitter{.name = "parallel_products", .claim = claimParallelProducts};

}  // namespace fusescope::native
