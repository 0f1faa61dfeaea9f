#include <algorithm>

#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// A half of x along its last axis: the first or second half, or the elements at even or odd positions.
struct Half {
  ValueId x;
  enum class Part { First, Second, Even, Odd } part;
  NodeId node;
  bool operator==(const Half&) const = default;
};

//
//   x · cos + rotate(x) · sin          rotate(x) = Concat(-second, first)
//   Concat(first · cos - second · sin, second · cos + first · sin)
// Slice or Split gives the halves. The elements at even and odd positions may also be the halves; Unsqueeze, Concat and
// Reshape then put them together again. Casts may be anywhere.
class RotaryRule {
 public:
  explicit RotaryRule(RegionBuilder& state) : m_state(state), m_graph(state.graph()) {}

  void apply(const Node& node) {
    for (const bool takesCastsOfX : {false, true}) {
      m_takesCastsOfX = takesCastsOfX;
      m_nodes.clear();
      m_angle = {};
      const bool found = node.is("Add") ? whole(node) : node.is("Concat") && byHalves(node);
      if (found && take()) return;
    }
  }

 private:
  /// Matches Add(Mul(x, cos), Mul(rotate(x), sin)) with operands in any order.
  bool whole(const Node& add) {
    const Node* a = product(add.input(0));
    const Node* b = product(add.input(1));
    if (a == nullptr || b == nullptr) return false;
    const std::vector<NodeId> casts = m_nodes;
    for (const auto& [plain, turned] : {std::pair(a, b), std::pair(b, a)}) {
      for (const std::size_t i : {0, 1}) {
        m_nodes = casts;
        m_nodes.insert(m_nodes.end(), {add.id, plain->id, turned->id});
        const std::optional<ValueId> x = rotated(turned->input(i));
        if (!x) continue;
        const bool left = rotatedFrom(plain->input(0)) == *x;
        if (!left && rotatedFrom(plain->input(1)) != *x) continue;
        takeX(plain->input(left ? 0 : 1));
        m_angle = {plain->input(left ? 1 : 0), turned->input(1 - i)};
        m_x = *x;
        m_result = add.outputs.front();
        return true;
      }
    }
    return false;
  }

  /// Returns x if the value is Concat(-second, first), or -odd and even interleaved.
  std::optional<ValueId> rotated(ValueId value) {
    const Node* joined = joinOf(value);
    if (joined == nullptr) return std::nullopt;
    const Node* negated = producerIf(m_graph, through(withoutUnsqueeze(joined->input(0))), "Neg");
    if (negated == nullptr) return std::nullopt;
    const std::optional<Half> second = half(negated->input(0));
    if (!second) return std::nullopt;
    const std::optional<Half> first = half(withoutUnsqueeze(joined->input(1)));
    if (!first || !areHalves(*first, *second)) return std::nullopt;
    if (interleaved(*first) != (producerIf(m_graph, beforeCasts(m_graph, value), "Reshape") != nullptr))
      return std::nullopt;
    m_nodes.insert(m_nodes.end(), {negated->id, second->node, first->node});
    return first->x;
  }

  /// Matches Concat(first · cos - second · sin, second · cos + first · sin).
  bool byHalves(const Node& concat) {
    if (!joins(concat)) return false;
    const Node* sub = producerIf(m_graph, through(withoutUnsqueeze(concat.input(0))), "Sub");
    const Node* add = producerIf(m_graph, through(withoutUnsqueeze(concat.input(1))), "Add");
    if (sub == nullptr || add == nullptr) return false;
    const Node* parts[] = {product(sub->input(0)), product(sub->input(1)), product(add->input(0)),
                           product(add->input(1))};
    if (std::ranges::find(parts, nullptr) != std::end(parts)) return false;
    const std::optional<Turn> a = turn(*parts[0]), b = turn(*parts[1]);
    std::optional<Turn> c = turn(*parts[2]), d = turn(*parts[3]);
    if (!a || !b || !c || !d) return false;
    if (c->half.part == a->half.part) std::swap(c, d);
    const bool fits = areHalves(a->half, b->half) && c->half.part == b->half.part && c->half.x == a->half.x &&
                      d->half.part == a->half.part && d->half.x == a->half.x && sameAngle(a->by, c->by) &&
                      sameAngle(b->by, d->by);
    if (!fits) return false;
    m_nodes.insert(m_nodes.end(), {concat.id, sub->id, add->id});
    for (const Node* part : parts) m_nodes.push_back(part->id);
    for (const Turn& one : {*a, *b, *c, *d}) m_nodes.push_back(one.half.node);
    m_angle = {a->by, b->by};
    m_x = a->half.x;
    m_result = concat.outputs.front();
    return interleaved(a->half) ? takeReshape() : true;
  }

  /// Returns whether both are the same angle, which products may read after Casts of their own.
  bool sameAngle(ValueId a, ValueId b) const { return beforeCasts(m_graph, a) == beforeCasts(m_graph, b); }

  struct Turn {
    Half half;
    ValueId by;
  };

  /// Matches a product of one half of something and a part of the angle.
  std::optional<Turn> turn(const Node& mul) {
    for (const std::size_t i : {0, 1})
      if (const auto found = half(mul.input(i))) return Turn{*found, mul.input(1 - i)};
    return std::nullopt;
  }

  const Node* product(ValueId value) { return producerIf(m_graph, through(value), "Mul"); }

  /// Returns the value before the Casts that make `value`, and adds these Casts.
  ValueId through(ValueId value) { return beforeCasts(m_graph, value, &m_nodes); }
  /// Does the same for x, some parts of which may be read before a Cast and others after it.
  ValueId takeX(ValueId value) { return m_takesCastsOfX ? through(value) : value; }
  ValueId rotatedFrom(ValueId value) const { return m_takesCastsOfX ? beforeCasts(m_graph, value) : value; }

  static bool interleaved(const Half& half) { return half.part == Half::Part::Even || half.part == Half::Part::Odd; }
  static bool areHalves(const Half& a, const Half& b) {
    using Part = Half::Part;
    const bool fits =
        (a.part == Part::First && b.part == Part::Second) || (a.part == Part::Even && b.part == Part::Odd);
    return fits && a.x == b.x;
  }

  /// Returns whether the node concatenates two operands along the last axis.
  bool joins(const Node& concat) const {
    return concat.is("Concat") && concat.inputs.size() == 2 &&
           isLastAxis(m_graph, concat, concat.intAttribute("axis", 0));
  }

  /// Returns the Concat that makes `value`, before a Reshape if it interleaves.
  const Node* joinOf(ValueId value) {
    value = through(value);
    if (const Node* reshape = producerIf(m_graph, value, "Reshape")) {
      const Node* concat = producerIf(m_graph, reshape->input(0), "Concat");
      if (concat == nullptr || producerIf(m_graph, concat->input(0), "Unsqueeze") == nullptr) return nullptr;
      m_nodes.push_back(reshape->id);
      value = through(reshape->input(0));
    }
    const Node* concat = producerIf(m_graph, value, "Concat");
    if (concat == nullptr || !joins(*concat)) return nullptr;
    m_nodes.push_back(concat->id);
    return concat;
  }

  ValueId withoutUnsqueeze(ValueId value) {
    value = through(value);
    const Node* unsqueeze = producerIf(m_graph, value, "Unsqueeze");
    if (unsqueeze == nullptr || !isView(m_graph, *unsqueeze)) return value;
    m_nodes.push_back(unsqueeze->id);
    return unsqueeze->input(0);
  }

  /// Adds the Reshape after the Concat of even and odd elements, which restores the extents of x.
  bool takeReshape() {
    const Node* reshape = onlyConsumerIf(m_graph, m_result, "Reshape");
    if (reshape == nullptr || !sameExtents(m_graph, reshape->outputs.front(), m_x)) return false;
    m_nodes.push_back(reshape->id);
    m_result = reshape->outputs.front();
    return true;
  }

  std::optional<Half> half(ValueId value) {
    std::vector<NodeId> casts;
    if (value.valid()) value = beforeCasts(m_graph, value, &casts);
    if (!value.valid() || !m_graph.value(value).producer.valid()) return std::nullopt;
    std::optional<Half> found = halfOf(value);
    if (found) m_nodes.insert(m_nodes.end(), casts.begin(), casts.end());
    return found;
  }

  std::optional<Half> halfOf(ValueId value) {
    const Node& node = m_graph.node(m_graph.value(value).producer);
    if (node.is("Slice")) return sliced(node);
    if (!node.is("Split") || node.outputs.size() != 2 || !isLastAxis(m_graph, node, node.intAttribute("axis", 0)))
      return std::nullopt;
    if (!sameExtents(m_graph, node.outputs[0], node.outputs[1])) return std::nullopt;
    return Half{takeX(node.input(0)), value == node.outputs[0] ? Half::Part::First : Half::Part::Second, node.id};
  }

  /// Returns the half that a Slice of only the last axis leaves.
  std::optional<Half> sliced(const Node& slice) {
    const auto number = [&](std::size_t i, std::int64_t otherwise) -> std::optional<std::int64_t> {
      if (!slice.input(i).valid()) return otherwise;
      const Tensor* data = m_graph.constantData(slice.input(i));
      return data != nullptr && data->count() == 1 ? std::optional(data->asInt64(0)) : std::nullopt;
    };
    const auto start = number(1, 0), axis = number(3, 0), step = number(4, 1);
    const Shape& from = m_graph.value(slice.input(0)).type.shape;
    const Shape& to = m_graph.value(slice.outputs.front()).type.shape;
    if (!start || !axis || !step || !from.ranked || !to.ranked || from.rank() == 0) return std::nullopt;
    if (!isLastAxis(m_graph, slice, *axis) || !from.dims.back().known()) return std::nullopt;
    const std::int64_t extent = from.dims.back().size, first = *start < 0 ? *start + extent : *start;
    if (to.dims.back().size * 2 != extent) return std::nullopt;
    const auto found = [&](Half::Part part) { return Half{takeX(slice.input(0)), part, slice.id}; };
    if (*step == 1 && (first == 0 || first == extent / 2))
      return found(first == 0 ? Half::Part::First : Half::Part::Second);
    if (*step == 2 && (first == 0 || first == 1)) return found(first == 0 ? Half::Part::Even : Half::Part::Odd);
    return std::nullopt;
  }

  /// Returns whether the angles run along axes of x only; otherwise the kernel would calculate elements repeatedly.
  bool anglesFit() {
    for (const ValueId angle : m_angle) {
      const Node* producer =
          m_graph.value(angle).producer.valid() ? &m_graph.node(m_graph.value(angle).producer) : nullptr;
      const bool own = producer != nullptr && std::ranges::find(m_nodes, producer->id) != m_nodes.end();
      if (own || !sameExtents(m_graph, m_result, m_x)) return false;
    }
    return true;
  }

  bool take() {
    if (!anglesFit() ||
        !std::ranges::all_of(m_nodes, [&](NodeId id) { return m_state.fusible(id) && m_state.alone(id); }))
      return false;
    const NodeId root = m_graph.value(m_result).producer;
    if (!m_state.tryMerge({.nodes = m_nodes, .root = root, .kind = kinds::kRotary, .rules = {kinds::kRotary}}))
      return false;
    absorbAbove(root);
    m_state.bind(root, {{roles::kInput, m_x, {}},
                        {roles::kCosine, m_angle[0], {}},
                        {roles::kSine, m_angle[1], {}},
                        {roles::kResult, m_result, root}});
    return true;
  }

  /// Adds Transposes and views of x that no other node reads; the kernel reads through their strides.
  void absorbAbove(NodeId root) {
    for (;;) {
      const NodeId producer = m_graph.value(m_x).producer;
      if (!producer.valid() || !m_state.fusible(producer) || !m_state.alone(producer)) return;
      const Node& node = m_graph.node(producer);
      const auto inside = [&](NodeId user) { return m_state.fusible(user) && m_state.together(user, root); };
      const bool ours = !m_graph.isOutput(m_x) && std::ranges::all_of(m_graph.value(m_x).consumers, inside);
      if (!ours || !(node.is("Transpose") || isView(m_graph, node) || isFloatCast(m_graph, node))) return;
      if (!m_state.tryMerge(
              {.nodes = {root, producer}, .root = root, .kind = kinds::kRotary, .rules = {kinds::kRotary}}))
        return;
      m_x = node.input(0);
    }
  }

  RegionBuilder& m_state;
  const Graph& m_graph;
  bool m_takesCastsOfX = false;
  std::vector<NodeId> m_nodes;
  std::array<ValueId, 2> m_angle;  ///< cosine and sine
  ValueId m_x, m_result;
};

void fuseRotary(RegionBuilder& state) {
  RotaryRule rule(state);
  for (const NodeId id : state.scope())
    if (state.alone(id)) rule.apply(state.graph().node(id));
}

}  // namespace

extern const FusionRule kRotaryRule{.name = "rotary", .picture = "x * cos + rotate(x) * sin", .apply = fuseRotary};

}  // namespace fusescope
