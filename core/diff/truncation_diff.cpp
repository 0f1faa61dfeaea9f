#include "diff/truncation_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <variant>

#include "base/json.h"
#include "base/text.h"
#include "diff/plan_levels.h"
#include "planning/read_back/compiled_engines.h"
#include "planning/structure.h"
#include "planning/truncate_modes.h"

namespace fusescope {

namespace {

std::string option(const ReadBackPlan& made, const char* key) {
  const auto found = made.compiler.options.find(key);
  return found == made.compiler.options.end() ? std::string() : found->second;
}

/// Returns the target that determines which types are wide; nullopt if there is no target of that name.
std::optional<Target> targetOf(const Cover& cover) {
  const ReadBackPlan* made = asReadBack(cover);
  if (made == nullptr || !reportsEngines(cover)) return requestedPlan(cover).target;
  auto target = Target::fromName(option(*made, kEnginesFor));
  return target.ok() ? std::optional(std::move(target).value()) : std::nullopt;
}

bool lacks(const std::optional<Target>& target, DataType type) {
  return target && ((type == DataType::F64 && target->lacksFloat64) || (type == DataType::I64 && target->lacksInt64));
}

void addOnce(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// Returns the nodes that calculate and read a value.
std::vector<NodeId> nodesAt(const Value& value) {
  std::vector<NodeId> nodes = value.consumers;
  if (value.producer.valid()) nodes.insert(nodes.begin(), value.producer);
  return nodes;
}

/// Describes what a side does with the wide values of one graph.
class WideValues {
 public:
  WideValues() = default;
  WideValues(const WideValues&) = delete;
  WideValues& operator=(const WideValues&) = delete;
  virtual ~WideValues() = default;
  virtual WideSide of(ValueId value) const = 0;
  /// Returns the same for a value in a body of `holder`, at any depth, that has no plan of its own.
  virtual WideSide inside(NodeId holder, const Subgraph* body, ValueId value) const = 0;
};

/// The wide values of one of our plans.
class PlannedValues final : public WideValues {
 public:
  explicit PlannedValues(const Plan& plan) : m_plan(plan), m_modes(truncateModesOf(plan.options.directives)) {
    for (const auto* list : {&plan.truncation.inputs, &plan.truncation.constants, &plan.truncation.produced})
      for (const TruncatedValue& each : *list) m_narrowed.emplace(each.value, &each);
    for (const RefusedTruncation& each : plan.truncation.refused) m_refused.emplace(each.value, &each.message);
    for (const PlannedCast& cast : plan.casts) m_casts.emplace(cast.value, &cast);
  }

  WideSide of(ValueId id) const override {
    const Value& value = m_plan.graph().value(id);
    if (const auto refused = m_refused.find(id); refused != m_refused.end())
      return {.fate = WideFate::Refused, .where = segmentsOf(nodesAt(value)), .why = *refused->second};
    const auto narrowed = m_narrowed.find(id);
    if (narrowed == m_narrowed.end()) return notNarrowed(id, value);
    const bool isMade = value.producer.valid(), isConstant = m_plan.graph().isConstant(id);
    WideSide side{.fate = isMade       ? WideFate::MadeNarrow
                          : isConstant ? WideFate::HeldNarrow
                                       : WideFate::CastInFront,
                  .narrow = narrowed->second->to,
                  .where = isMade ? segmentsOf({value.producer}) : segmentsOf(value.consumers, true)};
    if (isConstant) side.why = "every element fits, or its readers treat it as no limit";
    std::vector<std::string> holders;
    for (const NodeId holder : narrowed->second->capturedBy) holders.push_back(m_plan.graph().node(holder).name);
    if (!holders.empty()) side.why += "; bodies of " + joined(holders) + " read it";
    return side;
  }

  WideSide inside(NodeId holder, const Subgraph* body, ValueId id) const override {
    const FusedNode* fused = m_plan.fusedNodeOf(holder);
    if (fused == nullptr) return {};
    if (m_plan.inFallback(*fused)) return {.fate = WideFate::StaysWide, .where = segmentsOf({holder}), .why = {}};
    const Truncation& truncation = m_plan.structure->truncation;
    const auto known = body == nullptr ? truncation.bodyIndex.end() : truncation.bodyIndex.find(body);
    if (known == truncation.bodyIndex.end()) return {};
    const Value& value = body->graph->value(id);
    const DataType now = truncation.bodies[known->second].types[id.index];
    if (now != value.type.dtype)
      return {.fate = value.constant != nullptr ? WideFate::HeldNarrow : WideFate::MadeNarrow,
              .narrow = now,
              .where = segmentsOf({holder}),
              .why = {}};
    const auto refused = truncation.whyRefused.find({holder, value.name});
    if (refused == truncation.whyRefused.end())
      return {.fate = WideFate::StaysWide, .where = segmentsOf({holder}), .why = {}};
    return {.fate = WideFate::Refused, .where = segmentsOf({holder}), .why = value.name + " " + refused->second};
  }

 private:
  WideSide notNarrowed(ValueId id, const Value& value) const {
    const DataType type = value.type.dtype;
    const auto [first, last] = m_casts.equal_range(id);
    for (auto cast = first; cast != last; ++cast)
      if (cast->second->from == type && cast->second->to != type)
        return {.fate = WideFate::CastInFront,
                .narrow = cast->second->to,
                .where = segmentsOf(value.consumers, true),
                .why = {}};
    WideSide side{.fate = WideFate::StaysWide, .where = segmentsOf(nodesAt(value)), .why = {}};
    const TruncateMode mode = m_plan.graph().isConstant(id) ? m_modes.constants : m_modes.inputs;
    const bool isCovered =
        mode == TruncateMode::All || mode == (type == DataType::F64 ? TruncateMode::Double : TruncateMode::Long);
    if (!lacks(m_plan.target, type)) {
      side.why = m_plan.target.name + " supports the type";
    } else if (!isCovered) {
      side.why = "its truncation was not requested";
    }
    return side;
  }

  std::vector<std::string> segmentsOf(const std::vector<NodeId>& nodes, bool onlyAccelerated = false) const {
    std::vector<std::string> names;
    for (const NodeId node : nodes) {
      const FusedNode* fused = m_plan.fusedNodeOf(node);
      if (fused == nullptr || (onlyAccelerated && m_plan.inFallback(*fused))) continue;
      const Segment& segment = m_plan.segments[fused->segment.index];
      addOnce(names, segment.name + (m_plan.inFallback(*fused) ? " (fallback)" : ""));
    }
    return names;
  }

  const Plan& m_plan;
  const TruncateModes m_modes;
  std::unordered_map<ValueId, const TruncatedValue*> m_narrowed;
  std::unordered_map<ValueId, const std::string*> m_refused;
  std::unordered_multimap<ValueId, const PlannedCast*> m_casts;
};

/// The wide values of a compiler that builds engines.
class EngineValues final : public WideValues {
 public:
  explicit EngineValues(const ReadBackPlan& made) : m_made(made), m_narrowed(option(made, kEnginesNarrow)) {}

  WideSide of(ValueId id) const override {
    const Value& value = m_made.graph().value(id);
    const DataType narrow = value.type.dtype == DataType::F64 ? DataType::F32 : DataType::I32;
    std::vector<std::string> casts;
    for (const ReadBackConversion& each : m_made.conversions)
      if (each.value == id && each.isCast) addOnce(casts, each.kernel);
    if (!casts.empty()) return {.fate = WideFate::CastInFront, .narrow = narrow, .where = casts, .why = {}};
    const Found all = kernelsOf(nodesAt(value));
    if (all.engines.empty() && all.others.empty()) return {};
    if (all.engines.empty()) return {.fate = WideFate::StaysWide, .where = all.others, .why = "it is not in an engine"};
    if (m_narrowed != name(value.type.dtype)) return {.fate = WideFate::WideInEngine, .where = all.engines, .why = {}};
    if (m_made.graph().isConstant(id))
      return {
          .fate = WideFate::HeldNarrow, .narrow = narrow, .where = all.engines, .why = "its elements are not checked"};
    return {.fate = WideFate::NotReported, .where = all.engines, .why = "the inputs of the engine are cast"};
  }

  WideSide inside(NodeId holder, const Subgraph* /*body*/, ValueId /*value*/) const override {
    const Found all = kernelsOf({holder});
    if (!all.engines.empty() || all.others.empty())
      return {.fate = WideFate::NotReported, .where = all.engines, .why = {}};
    return {.fate = WideFate::StaysWide, .where = all.others, .why = "it is not in an engine"};
  }

 private:
  struct Found {
    std::vector<std::string> engines, others;
  };
  Found kernelsOf(const std::vector<NodeId>& nodes) const {
    Found found;
    for (const NodeId node : nodes) {
      if (!node.valid()) continue;
      for (const FusedNodeId kernel : m_made.kernelsOf(node))
        addOnce(m_made.kernels[kernel.index].region.empty() ? found.others : found.engines,
                m_made.fusedNodes[kernel.index].name);
    }
    return found;
  }

  const ReadBackPlan& m_made;
  const std::string m_narrowed;
};

std::unique_ptr<WideValues> valuesOf(const Cover& cover) {
  if (reportsEngines(cover)) return std::make_unique<EngineValues>(*asReadBack(cover));
  return std::make_unique<PlannedValues>(requestedPlan(cover));
}

class TruncationComparison {
 public:
  TruncationComparison(const Cover& a, const Cover& b)
      : m_levels(planLevels(a, b)), m_targetOfA(targetOf(a)), m_targetOfB(targetOf(b)) {
    for (const PlanLevel& level : m_levels)
      m_sides.push_back(
          {level.a == nullptr ? nullptr : valuesOf(*level.a), level.b == nullptr ? nullptr : valuesOf(*level.b)});
  }

  std::vector<WideValue> run() {
    for (std::size_t place = 0; place < m_levels.size(); ++place) compare(place);
    return std::move(m_values);
  }

 private:
  struct Sides {
    std::unique_ptr<WideValues> a, b;
  };

  void compare(std::size_t place) {
    const PlanLevel& level = m_levels[place];
    const Graph& graph = (level.a != nullptr ? level.a : level.b)->graph();
    const Graph& other = (level.b != nullptr ? level.b : level.a)->graph();
    const bool isOne = &graph == &other;
    for (const ValueId id : graph.allValues()) {
      const Value& value = graph.value(id);
      if (!isWide(graph, value, level.around >= 0)) continue;
      const ValueId there = isOne ? id : level.match.valueOfB[id.index];
      if (!there.valid()) continue;
      WideValue& each = add(graph, value, level.path().of(value.name));
      if (level.a != nullptr && level.b != nullptr) each.nameInB = level.pathOfB.of(other.value(there).name);
      each.a = level.a != nullptr ? m_sides[place].a->of(id) : ofHolder(level, true, id);
      each.b = level.b != nullptr ? m_sides[place].b->of(there) : ofHolder(level, false, there);
    }
    if (!isOne || level.a == nullptr || level.b == nullptr) return;
    for (const NodeId node : graph.order())
      if (!hasLevel(place, node)) bodiesOf(place, node, graph.node(node), level.path());
  }

  /// If a side has no plan of a body, the holder determines what happens in it.
  WideSide ofHolder(const PlanLevel& level, bool isA, ValueId value) const {
    if (level.around < 0) return {};
    const Sides& around = m_sides[static_cast<std::size_t>(level.around)];
    const WideValues* values = isA ? around.a.get() : around.b.get();
    const NodeId holder = isA ? level.holderOfA : level.holderOfB;
    return values == nullptr || !holder.valid() ? WideSide() : values->inside(holder, nullptr, value);
  }

  bool hasLevel(std::size_t around, NodeId holder) const {
    return std::ranges::any_of(m_levels, [&](const PlanLevel& level) {
      return level.around == static_cast<int>(around) && level.holderOfA == holder;
    });
  }

  /// Adds bodies for which neither side has a plan. `holder` is the node of the level that contains them.
  void bodiesOf(std::size_t place, NodeId holder, const Node& node, const BodyPath& path) {
    for (const auto& [attribute, held] : node.attributes) {
      const auto* body = std::get_if<Subgraph>(&held);
      if (body == nullptr) continue;
      const BodyPath inside = path.into(node, attribute);
      for (const ValueId id : body->graph->allValues()) {
        const Value& value = body->graph->value(id);
        if (!isWide(*body->graph, value, true)) continue;
        WideValue& each = add(*body->graph, value, inside.of(value.name));
        each.a = m_sides[place].a->inside(holder, body, id);
        each.b = m_sides[place].b->inside(holder, body, id);
      }
      for (const NodeId inner : body->graph->order()) bodiesOf(place, holder, body->graph->node(inner), inside);
    }
  }

  WideValue& add(const Graph& graph, const Value& value, const std::string& text) {
    const std::string_view role = value.producer.valid() ? "made" : graph.isConstant(value.id) ? "constant" : "input";
    return m_values.emplace_back(
        WideValue{.value = text, .nameInB = text, .role = role, .type = value.type.dtype, .a = {}, .b = {}});
  }

  /// Inputs of a body, and values that it captures, are values of the graph around it.
  bool isWide(const Graph& graph, const Value& value, bool isBody) const {
    if (value.type.container != Container::None || nodesAt(value).empty()) return false;
    if (isBody && graph.isInput(value.id)) return false;
    return lacks(m_targetOfA, value.type.dtype) || lacks(m_targetOfB, value.type.dtype);
  }

  const std::vector<PlanLevel> m_levels;
  const std::optional<Target> m_targetOfA, m_targetOfB;
  std::vector<Sides> m_sides;  ///< by level
  std::vector<WideValue> m_values;
};

std::string titleOf(const Cover& cover) {
  const ReadBackPlan* made = asReadBack(cover);
  if (made == nullptr) return std::string(kOwnCompiler) + " for " + cover.target.name;
  return made->compiler.name + (made->compiler.version.empty() ? "" : " " + made->compiler.version);
}

Json sideJson(const WideSide& side) {
  return {{"fate", name(side.fate)},
          {"narrow", side.narrow == DataType::Undefined ? Json(nullptr) : Json(toText(side.narrow))},
          {"where", side.where},
          {"why", side.why}};
}

}  // namespace

std::string_view name(WideFate fate) {
  static constexpr std::array<std::string_view, 7> kNames{"cast_in_front", "held_narrow",    "made_narrow", "refused",
                                                          "stays_wide",    "wide_in_engine", "not_told"};
  return kNames[static_cast<std::size_t>(fate)];
}

std::string WideSide::text(DataType wide) const {
  const std::string in = where.empty() ? "" : " in " + joined(where), from = toText(wide), to = toText(narrow);
  const std::string behind = why.empty() ? "" : ": " + why;
  switch (fate) {
    case WideFate::CastInFront:
      return fmt::format("cast to {} before {}{}", to, where.empty() ? "its readers" : joined(where), behind);
    case WideFate::HeldNarrow:
      return fmt::format("stored as {}{}{}", to, in, behind);
    case WideFate::MadeNarrow:
      return fmt::format("calculated as {}{}{}", to, in, behind);
    case WideFate::Refused:
      return why;
    case WideFate::StaysWide:
      return fmt::format("stays {}{}{}", from, in, behind);
    case WideFate::WideInEngine:
      return fmt::format("{}{}, which its target lacks", from, in);
    case WideFate::NotReported:
      return fmt::format("type not disclosed{}{}", in, behind);
  }
  return {};
}

bool reportsEngines(const Cover& cover) {
  const ReadBackPlan* made = asReadBack(cover);
  return made != nullptr && made->compiler.options.contains(kEnginesFor);
}

TruncationDiff compareTruncation(const Cover& a, const Cover& b) {
  return {.a = titleOf(a), .b = titleOf(b), .values = TruncationComparison(a, b).run()};
}

Result<std::optional<TruncationBeside>> truncationBeside(const ReadBackPlan& made, const Directives& directives,
                                                         const StopToken& stop) {
  const std::optional<Target> target = targetOf(made);
  if (!reportsEngines(made) || !target || (!target->lacksFloat64 && !target->lacksInt64)) return {std::nullopt};
  PlanOptions options;
  options.target = target->canonical();
  options.directives = directives;
  TruncationBeside beside{.ours = TRY(makePlan(made.model, options, nullptr, stop)), .diff = {}};
  beside.diff = compareTruncation(made, *beside.ours);
  if (beside.diff.values.empty()) return {std::nullopt};
  return {std::move(beside)};
}

Json toJson(const TruncationDiff& diff) {
  Json values = Json::array();
  for (const WideValue& each : diff.values)
    values.push_back({{"value", each.value},
                      {"name_in_b", each.nameInB},
                      {"role", each.role},
                      {"type", toText(each.type)},
                      {"a", sideJson(each.a)},
                      {"b", sideJson(each.b)}});
  return {{"a", diff.a}, {"b", diff.b}, {"values", std::move(values)}};
}

std::string printTruncation(const TruncationDiff& diff, std::size_t most) {
  if (diff.values.empty()) return {};
  std::string text = fmt::format("\n@@ truncation, − {}, + {} @@\n", diff.a, diff.b);
  const std::size_t shown = most == 0 ? diff.values.size() : std::min(most, diff.values.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const WideValue& each = diff.values[i];
    const std::string name = each.value == each.nameInB ? each.value : each.value + " / " + each.nameInB;
    text += fmt::format("~ {} ({}, {})\n-     {}\n+     {}\n", name, each.role, toText(each.type),
                        each.a.text(each.type), each.b.text(each.type));
  }
  if (shown < diff.values.size())
    text += fmt::format("~ … and {} more\n", counted(static_cast<std::int64_t>(diff.values.size() - shown), "value"));
  return text;
}

}  // namespace fusescope
