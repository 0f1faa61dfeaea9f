#include <algorithm>
#include <array>

#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns whether kernels of this kind write plain memory, so that other extents for the same elements cost nothing.
bool takesViewBehind(std::string_view kind) {
  constexpr std::array kKinds = {kinds::kMatMul,  kinds::kGemm,      kinds::kAttention, kinds::kPointwise, kinds::kView,
                                 kinds::kRmsNorm, kinds::kLayerNorm, kinds::kTranspose, kinds::kSoftmax};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

bool takesViewBefore(std::string_view kind) {
  constexpr std::array kKinds = {kinds::kMatMul, kinds::kGemm, kinds::kTranspose, kinds::kView};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

/// Returns whether kernels of this kind may choose the memory format of their output.
bool choosesLayout(std::string_view kind) {
  return kind == kinds::kConv || kind == kinds::kPool;
}

bool join(RegionBuilder& state, NodeId host, std::vector<NodeId> guests, std::string_view rule) {
  const std::string_view kind = state.kindOf(host);
  guests.push_back(host);
  return state.tryMerge({.nodes = std::move(guests),
                         .root = state.rootOf(host),
                         .kind = kind,
                         .rules = {rule},
                         .deliversInner = kind == kinds::kPointwise});
}

bool joinProducer(RegionBuilder& state, const Node& view) {
  std::vector<NodeId> guests{view.id};
  const ValueId value = beforeOwnCasts(state, view.input(0), guests);
  const NodeId producer = state.graph().value(value).producer;
  if (!producer.valid() || !state.fusible(producer) || onlyConsumer(state.graph(), value) == nullptr) return false;
  return takesViewBehind(state.kindOf(producer)) && join(state, producer, std::move(guests), "view");
}

bool joinConsumer(RegionBuilder& state, const Node& view) {
  std::vector<NodeId> guests{view.id};
  const Node* consumer = onlyConsumer(state.graph(), behindOwnCasts(state, view.outputs.front(), guests));
  if (consumer == nullptr || !state.fusible(consumer->id)) return false;
  if (!takesViewBefore(state.kindOf(consumer->id))) return false;
  // Only operands of the root are considered, because an epilogue reads at the extents of the root's output.
  const NodeId root = state.rootOf(consumer->id);
  const std::string_view kind = state.kindOf(root);
  const bool isProduct = kind == kinds::kMatMul || kind == kinds::kGemm;
  if (isProduct && root != consumer->id) return false;
  return join(state, root, std::move(guests), "view");
}

void explainLayout(RegionBuilder& state, const Node& view) {
  std::vector<NodeId> casts;
  const NodeId producer = state.graph().value(beforeOwnCasts(state, view.input(0), casts)).producer;
  if (!producer.valid() || !state.fusible(producer) || !choosesLayout(state.kindOf(producer))) return;
  state.refuse("fuse.layout_would_be_fixed", "view", producer, view.id);
}

/// Returns whether a product can read its operand transposed: one of the last two axes must still have stride 1.
bool isReadableTransposed(const Graph& graph, const Node& transpose) {
  const std::vector<std::int64_t> order = transpose.intsAttribute("perm");
  const std::size_t rank = graph.value(transpose.input(0)).type.shape.rank();
  if (rank < 2 || (!order.empty() && order.size() != rank)) return false;
  if (order.empty()) return rank == 2;
  const auto innermost = static_cast<std::int64_t>(rank) - 1;
  return order[rank - 1] == innermost || order[rank - 2] == innermost;
}

//   MatMul(Transpose(a), b)      with float Casts between them
void fuseTransposes(RegionBuilder& state) {
  const Graph& graph = state.graph();
  for (const NodeId id : state.scope()) {
    const Node& node = graph.node(id);
    if (!node.is("Transpose") || isView(graph, node) || !state.fusible(id) || !state.alone(id)) continue;
    std::vector<NodeId> guests{id};
    const Node* consumer = onlyConsumerIf(graph, behindOwnCasts(state, node.outputs.front(), guests), "MatMul");
    if (consumer == nullptr || !state.fusible(consumer->id) || state.kindOf(consumer->id) != kinds::kMatMul) continue;
    if (isReadableTransposed(graph, node)) join(state, consumer->id, std::move(guests), "transpose");
  }
}

//
//   kernel ─ view      a view goes into the kernel that writes its operand, or else into the one that reads its result,
//   view ─ kernel      or else it is a kernel of its own; float Casts may be between them
void fuseViews(RegionBuilder& state) {
  const Graph& graph = state.graph();
  for (const NodeId id : state.scope()) {
    const Node& node = graph.node(id);
    if (!isView(graph, node) || !state.fusible(id) || !state.alone(id)) continue;
    if (joinProducer(state, node) || joinConsumer(state, node)) continue;
    explainLayout(state, node);
  }
}

}  // namespace

extern const FusionRule kTransposeRule{
    .name = "transpose", .picture = "transpose(a) * b, view(transpose(view(x)))", .apply = fuseTransposes};

extern const FusionRule kViewRule{.name = "view", .picture = "view(kernel(x)), kernel(view(x))", .apply = fuseViews};

}  // namespace fusescope
