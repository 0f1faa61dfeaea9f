#include <algorithm>
#include <array>

#include "base/sort_distinct.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Which roots have an epilogue, and what it may contain.
struct EpilogueForm {
  std::string_view rule;
  std::string_view kind;
  bool takesBatchNorm = false;  ///< channels are the second axis
  bool takesViews = false;      ///< the output is written in the plain memory format
};

constexpr std::size_t kLongestRegion = 24;

/// The parts that partOf() distinguishes, besides parts that are rules of their own.
constexpr std::array<std::string_view, 2> kParts{"activation", "residual"};

//
//   root ─ f ─ g ─ …        each of f, g is one elementwise node, or several nodes between which a value forks and
//   joins: root ─┬─ Sigmoid ─┐
//         └────────── Mul ─ …
// Between them, values may be quantised and dequantised again: root ─ QuantizeLinear ─ DequantizeLinear ─ f ─ …
class EpilogueRule {
 public:
  EpilogueRule(RegionBuilder& state, const EpilogueForm& form, NodeId root)
      : m_state(state), m_graph(state.graph()), m_form(form), m_root(root), m_nodes{root} {
    m_value = m_graph.node(root).outputs.front();
  }

  void apply() {
    m_state.bind(m_root, {{roles::kRoot, m_value, m_root}});
    while (takeView() || takeRegion()) {
    }
  }

 private:
  bool inside(NodeId node) const { return std::find(m_nodes.begin(), m_nodes.end(), node) != m_nodes.end(); }

  bool takeView() {
    if (!m_form.takesViews) return false;
    const Node* view = onlyConsumer(m_graph, m_value);
    if (view == nullptr || !isView(m_graph, *view) || view->input(0) != m_value) return false;
    if (!m_state.fusible(view->id) || !m_state.alone(view->id)) return false;
    return grow({view->id}, view->outputs.front(), {"view"});
  }

  bool takeRegion() {
    std::vector<NodeId> region;
    const std::optional<ValueId> result = closeRegion(region);
    if (!result) return false;
    std::vector<std::string_view> rules;
    for (NodeId node : region) rules.push_back(partOf(m_graph.node(node), region));
    return grow(region, *result, std::move(rules));
  }

  bool grow(const std::vector<NodeId>& added, ValueId result, std::vector<std::string_view> parts) {
    std::vector<NodeId> nodes = m_nodes;
    nodes.insert(nodes.end(), added.begin(), added.end());
    parts.insert(parts.begin(), m_form.rule);
    Bindings bindings;
    for (const NodeId node : added) bindings.push_back({roles::kPart, m_graph.node(node).outputs.front(), node});
    if (!m_state.tryMerge({.nodes = nodes,
                           .root = m_root,
                           .kind = m_form.kind,
                           .rules = std::move(parts),
                           .bindings = std::move(bindings)})) {
      return false;
    }
    m_nodes = std::move(nodes);
    m_value = result;
    return true;
  }

  /// Finds the smallest set of nodes that read m_value and leave a single value in its place; nothing if there is none.
  std::optional<ValueId> closeRegion(std::vector<NodeId>& region) {
    if (m_graph.isOutput(m_value)) return std::nullopt;
    for (;;) {
      const std::vector<NodeId> users = usersOfLiveValues(region);
      if (users.empty() || region.size() == kLongestRegion) return std::nullopt;
      for (NodeId user : users) {
        if (acceptable(user, region)) continue;
        explainOutsideUser(region, users, user);
        return std::nullopt;
      }
      region.push_back(users.front());
      const std::vector<ValueId> live = liveValues(region);
      if (live.size() == 1 && live.front() != m_value && isFloat(m_graph.value(live.front()).type.dtype) &&
          !isDequantized(live.front())) {
        return live.front();
      }
    }
  }

  bool within(NodeId node, const std::vector<NodeId>& region) const {
    return inside(node) || std::find(region.begin(), region.end(), node) != region.end();
  }

  /// Returns m_value and results of the region that nodes outside still need.
  std::vector<ValueId> liveValues(const std::vector<NodeId>& region) const {
    std::vector<ValueId> live;
    const auto consider = [&](ValueId value) {
      const auto& users = m_graph.value(value).consumers;
      const bool used = m_graph.isOutput(value) ||
                        std::any_of(users.begin(), users.end(), [&](NodeId user) { return !within(user, region); });
      if (used) live.push_back(value);
    };
    consider(m_value);
    for (NodeId node : region) consider(m_graph.node(node).outputs.front());
    return live;
  }

  /// Returns the users in graph order, so that the first depends on none of the others.
  std::vector<NodeId> usersOfLiveValues(const std::vector<NodeId>& region) const {
    std::vector<NodeId> users;
    for (ValueId value : liveValues(region)) {
      for (NodeId user : m_graph.value(value).consumers) {
        if (!within(user, region)) users.push_back(user);
      }
    }
    sortDistinct(users, [&](NodeId a, NodeId b) { return m_state.rank(a) < m_state.rank(b); });
    return users;
  }

  bool isBatchNorm(const Node& node) const {
    if (!m_form.takesBatchNorm || !node.is("BatchNormalization") || node.intAttribute("training_mode", 0) != 0) {
      return false;
    }
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](ValueId value) { return value.valid() && m_graph.isConstant(value); });
  }

  /// Returns whether the node is a QuantizeLinear or DequantizeLinear with constants, which is arithmetic between
  /// elementwise nodes.
  bool isQuantization(const Node& node) const {
    return (node.is("QuantizeLinear") || node.is("DequantizeLinear")) && node.outputs.size() == 1 &&
           std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](ValueId value) { return !value.valid() || m_graph.isConstant(value); });
  }

  /// Returns whether the value is dequantised. The last dequantisation is left to the kernel that reads it, so that
  /// integers are in memory.
  bool isDequantized(ValueId value) const { return producerIf(m_graph, value, "DequantizeLinear") != nullptr; }

  bool acceptable(NodeId id, const std::vector<NodeId>& region) {
    const Node& node = m_graph.node(id);
    const bool known = isElementwise(node) || isBatchNorm(node) || isQuantization(node);
    if (!m_state.fusible(id) || !m_state.alone(id) || !known) return false;
    const ValueId output = node.outputs.front();
    if (!extentsKnown(m_graph, m_value) || !extentsKnown(m_graph, output)) {
      m_state.refuse("fuse.shape_unknown", m_form.rule, m_root, id, {{"value", m_graph.value(output).name}});
      return false;
    }
    if (!sameExtents(m_graph, output, m_value)) {
      m_state.refuse("fuse.shape_differs", m_form.rule, m_root, id);
      return false;
    }
    if (isBatchNorm(node) || isQuantization(node)) return true;
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId operand) { return !operand.valid() || operandFits(operand, id, region); });
  }

  bool operandFits(ValueId operand, NodeId consumer, const std::vector<NodeId>& region) {
    const NodeId producer = m_graph.value(operand).producer;
    if (producer.valid() && within(producer, region)) return true;
    if (isScalarConstant(m_graph, operand) || sameExtents(m_graph, operand, m_value)) return true;
    if (broadcastsTo(m_graph, operand, m_value) && (rootExtentsStand() || alongLastAxis(operand))) return true;
    m_state.refuse("fuse.epilogue_operand", m_form.rule, m_root, consumer, {{"value", m_graph.value(operand).name}});
    return false;
  }

  /// Returns whether no view is between the root and m_value.
  bool rootExtentsStand() const { return sameExtents(m_graph, m_graph.node(m_root).outputs.front(), m_value); }

  bool alongLastAxis(ValueId operand) const {
    const Shape& root = m_graph.value(m_graph.node(m_root).outputs.front()).type.shape;
    const Shape& now = m_graph.value(m_value).type.shape;
    const Shape& own = m_graph.value(operand).type.shape;
    return own.rank() == 1 && root.rank() > 0 && now.rank() > 0 && root.dims.back() == now.dims.back();
  }

  /// Returns which part of an epilogue a node is; --no-fuse can switch each part off separately.
  std::string_view partOf(const Node& node, const std::vector<NodeId>& region) const {
    if (node.is("BatchNormalization")) return "batch_norm";
    if (isFloatCast(m_graph, node)) return "cast";
    if (isQuantization(node)) return "quantize";
    bool constantTensor = false;
    for (ValueId operand : node.inputs) {
      if (!operand.valid() || isScalarConstant(m_graph, operand)) continue;
      const NodeId producer = m_graph.value(operand).producer;
      if (producer.valid() && within(producer, region)) continue;
      if (!m_graph.isConstant(operand)) return "residual";
      constantTensor = true;
    }
    return constantTensor ? m_form.rule : std::string_view("activation");
  }

  /// A value that forks is merged only if all its users are. This records which user prevented it, if any of the others
  /// could have been merged.
  void explainOutsideUser(const std::vector<NodeId>& region, const std::vector<NodeId>& users, NodeId user) {
    if (users.size() < 2) return;
    for (NodeId other : users) {
      const Node& node = m_graph.node(other);
      if (other == user || !m_state.fusible(other) || !m_state.alone(other) || !isElementwise(node)) continue;
      const ValueId forked = region.empty() ? m_value : liveValues(region).front();
      return m_state.refuse("fuse.inner_value_used_outside", m_form.rule, m_root, other,
                            {{"value", m_graph.value(forked).name},
                             {"kind", std::string(m_form.kind)},
                             {"user", m_graph.node(user).name}});
    }
  }

  RegionBuilder& m_state;
  const Graph& m_graph;
  const EpilogueForm& m_form;
  NodeId m_root;
  std::vector<NodeId> m_nodes;
  ValueId m_value;  ///< what the kernel leaves so far
};

/// Returns whether the node is a product of bytes, whose sums are int32; a Cast after it makes them floats.
bool isIntegerProduct(const Node& node) {
  return node.is("ConvInteger") || node.is("MatMulInteger");
}

/// If two roots meet in a sum, the later one includes it. A chain of sums then runs in order, and the summands are not
/// all in memory at once.
template <class IsRoot>
void fuseEpilogues(RegionBuilder& state, const EpilogueForm& form, const IsRoot& isRoot) {
  const std::vector<NodeId>& order = state.scope();
  for (std::size_t i = order.size(); i-- > 0;) {
    const NodeId id = order[i];
    const Node& node = state.graph().node(id);
    if (!isRoot(node) || !state.fusible(id) || !state.alone(id)) continue;
    const DataType type = state.graph().value(node.outputs.front()).type.dtype;
    if (isFloat(type) || isIntegerProduct(node)) EpilogueRule(state, form, id).apply();
  }
}

void fuseConvEpilogue(RegionBuilder& state) {
  static constexpr EpilogueForm kForm{.rule = "conv_epilogue", .kind = kinds::kConv, .takesBatchNorm = true};
  fuseEpilogues(state, kForm,
                [](const Node& node) { return node.is("Conv") || node.is("ConvTranspose") || node.is("ConvInteger"); });
}

void fuseMatMulEpilogue(RegionBuilder& state) {
  static constexpr EpilogueForm kForm{.rule = "matmul_epilogue", .kind = kinds::kMatMul, .takesViews = true};
  fuseEpilogues(state, kForm, [](const Node& node) { return node.is("MatMul") || node.is("MatMulInteger"); });
}

void fuseGemmEpilogue(RegionBuilder& state) {
  static constexpr EpilogueForm kForm{
      .rule = "gemm_epilogue", .kind = kinds::kGemm, .takesBatchNorm = true, .takesViews = true};
  fuseEpilogues(state, kForm, [](const Node& node) { return node.is("Gemm"); });
}

void fuseBatchNormEpilogue(RegionBuilder& state) {
  static constexpr EpilogueForm kForm{.rule = "batch_norm", .kind = kinds::kBatchNorm};
  fuseEpilogues(state, kForm, [](const Node& node) {
    return node.is("BatchNormalization") && node.intAttribute("training_mode", 0) == 0;
  });
}

}  // namespace

extern const FusionRule kConvEpilogueRule{.name = "conv_epilogue",
                                          .picture = "act(bn(conv(x, w) + b) + residual)",
                                          .apply = fuseConvEpilogue,
                                          .parts = kParts};

extern const FusionRule kMatMulEpilogueRule{
    .name = "matmul_epilogue", .picture = "act(a * b + bias) + residual", .apply = fuseMatMulEpilogue, .parts = kParts};

extern const FusionRule kGemmEpilogueRule{
    .name = "gemm_epilogue", .picture = "act(gemm(a, b, c)) + residual", .apply = fuseGemmEpilogue, .parts = kParts};

extern const FusionRule kBatchNormRule{
    .name = "batch_norm", .picture = "act(bn(x)) + residual", .apply = fuseBatchNormEpilogue, .parts = kParts};

}  // namespace fusescope
