#include <algorithm>

#include "planning/fusion/norm_match.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns whether the constant is [C, 1, 1] or [1, C, 1, 1] for a value of [N, C, H, W], so that it runs along the
/// second axis only.
bool alongChannels(const Graph& graph, ValueId constant, ValueId value, std::size_t) {
  const Shape& own = graph.value(constant).type.shape;
  const Shape& shape = graph.value(value).type.shape;
  if (!own.ranked || own.rank() + 1 < shape.rank() || !broadcastsTo(graph, constant, value)) return false;
  for (std::size_t i = 0; i < own.rank(); ++i)
    if (i + shape.rank() != own.rank() + 1 && own.dims[i].size != 1) return false;
  return true;
}

bool allEqual(const Graph& graph, ValueId constant, double number) {
  const Tensor* data = constant.valid() ? graph.constantData(constant) : nullptr;
  if (data == nullptr) return false;
  for (std::int64_t i = 0; i < data->count(); ++i)
    if (data->asDouble(i) != number) return false;
  return true;
}

//   x[N, C, ...] ─ Reshape [N, groups, ...] ─ f ─ Reshape ─ [Mul w] ─ [Add b]
// where f is InstanceNormalization(·, 1, 0), or its arithmetic.
class GroupNormRule {
 public:
  explicit GroupNormRule(RegionBuilder& state) : m_state(state), m_graph(state.graph()) {}

  void applyToInstanceNorm(const Node& norm) {
    std::vector<NodeId> nodes{norm.id};
    const Node* split = viewOf(beforeCasts(m_graph, norm.input(0), &nodes));
    if (split == nullptr) return;
    if (!allEqual(m_graph, norm.input(1), 1) || !allEqual(m_graph, norm.input(2), 0))
      return refuse(norm, "scale and bias of " + norm.name + " are not known to be one and zero");
    take(std::move(nodes), norm.id, *split, norm.outputs.front(), {});
  }

  void applyToArithmetic(const NormCore& core) {
    std::vector<NodeId> nodes = core.nodes;
    const Node* split = viewOf(beforeCasts(m_graph, core.input, &nodes));
    if (split == nullptr) return;
    const std::size_t rank = m_graph.value(core.input).type.shape.rank();
    if (core.axes + 2 == rank) take(std::move(nodes), core.root, *split, core.result, core.epsilon);
  }

 private:
  /// Returns the view that makes `groups`, [N, G, ...], of [N, C, ...].
  const Node* viewOf(ValueId groups) const {
    const NodeId producer = groups.valid() ? m_graph.value(groups).producer : NodeId();
    if (!producer.valid() || !isView(m_graph, m_graph.node(producer)) || !m_state.fusible(producer)) return nullptr;
    const Node& view = m_graph.node(producer);
    const Shape& before = m_graph.value(view.input(0)).type.shape;
    const Shape& after = m_graph.value(groups).type.shape;
    const bool fits = m_state.alone(producer) && before.ranked && after.ranked && before.rank() >= 3 &&
                      after.rank() >= 3 && before.dims[0] == after.dims[0] && after.dims[1].known();
    return fits ? &view : nullptr;
  }

  void take(std::vector<NodeId> nodes, NodeId root, const Node& split, ValueId result, ValueId epsilon) {
    const ValueId x = split.input(0), groups = split.outputs.front();
    const ValueId normed = behindCasts(m_graph, result, nodes);
    const Node* joined = onlyConsumer(m_graph, normed);
    if (joined == nullptr || !isView(m_graph, *joined) || !sameExtents(m_graph, joined->outputs.front(), x))
      return refuse(m_graph.node(root), "no view gives its result the extents of " + m_graph.value(x).name + " again");
    nodes.insert(nodes.end(), {split.id, joined->id});
    if (!m_state.tryMerge({.nodes = std::move(nodes),
                           .root = root,
                           .kind = kinds::kGroupNorm,
                           .rules = {kinds::kGroupNorm},
                           .bindings = {{roles::kInput, x, {}}, {roles::kGroups, groups, split.id}}}))
      return;
    if (epsilon.valid()) m_state.bind(root, {{roles::kEpsilon, epsilon, {}}});
    takeAffine(m_state, root, kinds::kGroupNorm, joined->outputs.front(), true, alongChannels, 1);
  }

  void refuse(const Node& norm, const std::string& what) {
    m_state.refuse("fuse.pattern_incomplete", kinds::kGroupNorm, norm.id, norm.id,
                   {{"kind", std::string(kinds::kGroupNorm)}, {"what", what}});
  }

  RegionBuilder& m_state;
  const Graph& m_graph;
};

void fuseGroupNorm(RegionBuilder& state) {
  const NormMatcher matcher(state.graph());
  GroupNormRule rule(state);
  for (const NodeId id : state.scope()) {
    const Node& node = state.graph().node(id);
    if (!state.alone(id)) continue;
    std::string obstacle;
    if (node.is("InstanceNormalization")) {
      rule.applyToInstanceNorm(node);
    } else if (const auto core = matcher.match(node, obstacle); core && core->centred) {
      rule.applyToArithmetic(*core);
    }
  }
}

}  // namespace

extern const FusionRule kGroupNormRule{
    .name = "group_norm", .picture = "instance_norm(groups(x)) * w + b", .apply = fuseGroupNorm};

}  // namespace fusescope
