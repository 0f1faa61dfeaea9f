#include "engine/program/extent_check.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "ops/op_schema.h"
#include "passes/pipelines.h"
#include "planning/plan_json.h"

namespace fusescope {
namespace {

/// The values of symbols in one run.
class SymbolValues {
 public:
  void bind(const TensorType& type, const Dims& dims) {
    for (std::size_t i = 0; i < type.shape.rank() && i < dims.size(); ++i)
      if (isExtentSymbol(type.shape.dims[i].symbol)) m_values.try_emplace(type.shape.dims[i].symbol, dims[i]);
  }

  ExtentExpression::ValueOf lookUp() const {
    return [this](const std::string& symbol) -> std::optional<std::int64_t> {
      const auto found = m_values.find(symbol);
      return found == m_values.end() ? std::nullopt : std::optional(found->second);
    };
  }

  /// Returns whether `dim` can have the extent `size`. A symbol that has no value yet gets this value.
  bool fits(const Dim& dim, std::int64_t size) {
    if (dim.known()) return dim.size == size;
    if (dim.symbol.empty()) return true;
    if (isExtentSymbol(dim.symbol)) return m_values.try_emplace(dim.symbol, size).first->second == size;
    const auto [place, isNew] = m_expressions.try_emplace(dim.symbol);
    if (isNew) place->second = ExtentExpression::of(dim).at(lookUp());
    return !place->second || *place->second == size;
  }

 private:
  std::map<std::string, std::int64_t> m_values;
  std::map<std::string, std::optional<std::int64_t>> m_expressions;
};

/// Returns the first condition that is violated, among the demanded ones or among the others; null if there is none.
const ExtentCondition* failingCondition(const Model& model, const std::map<std::string, Dims>& extents, bool demanded) {
  SymbolValues values;
  for (std::size_t i = 0; i < model.declaredInputs.size(); ++i) {
    const auto given = extents.find(model.graph->value(model.graph->inputs()[i]).name);
    if (given != extents.end()) values.bind(model.declaredInputs[i], given->second);
  }
  for (const ExtentCondition& condition : model.conditions)
    if (condition.demanded == demanded && !holds(condition, values.lookUp()).value_or(true)) return &condition;
  return nullptr;
}

/// Returns the names of the inputs to whose extents `condition` refers.
std::vector<std::string> namesIn(const ExtentCondition& condition, const Model& model) {
  std::set<std::string> symbols;
  for (const std::string& side : {condition.left, condition.right})
    if (const auto expression = ExtentExpression::parse(side))
      for (const std::string& symbol : expression->symbols()) symbols.insert(symbol);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.declaredInputs.size(); ++i)
    if (std::ranges::any_of(model.declaredInputs[i].shape.dims,
                            [&](const Dim& dim) { return symbols.contains(dim.symbol); }))
      names.push_back(model.graph->value(model.graph->inputs()[i]).name);
  return names;
}

/// Returns the extents of these inputs as text: "x [2, 5], y [3, 5]".
std::string inputsOf(const ExtentCondition& condition, const Model& model, const std::map<std::string, Dims>& extents) {
  std::vector<std::string> texts;
  for (const std::string& name : namesIn(condition, model))
    if (extents.contains(name)) texts.push_back(name + " " + toText(extents.at(name)));
  return joined(texts);
}

/// Returns which inputs can be given instead of those that violate `condition`.
std::string otherExtents(const ExtentCondition& condition, const Plan& plan) {
  std::vector<std::string> ranges;
  const std::vector<std::string> names = namesIn(condition, *plan.model);
  for (const InputSpec& spec : plan.inputSpecs)
    if (!spec.fixed() && std::ranges::find(names, spec.name) != names.end())
      ranges.push_back(spec.name + " from " + toText(spec.min) + " to " + toText(spec.max));
  return "Give inputs of other extents" + (ranges.empty() ? "." : ": it is planned for " + joined(ranges) + ".");
}

constexpr std::size_t kNamedInputs = 3;

bool isOpen(const TensorType& type) {
  return type.container == Container::None && !type.shape.fixed();
}

}  // namespace

bool hasOpenInput(const Graph& graph) {
  return std::ranges::any_of(graph.inputs(), [&](ValueId input) { return isOpen(graph.value(input).type); });
}

std::string openExtentsInWords(const Graph& graph, const std::map<std::string, Dims>& extents) {
  std::vector<std::string> texts;
  for (const ValueId input : graph.inputs()) {
    const auto given = extents.find(graph.value(input).name);
    if (given != extents.end() && isOpen(graph.value(input).type))
      texts.push_back(given->first + " " + toText(given->second));
  }
  if (texts.size() <= kNamedInputs) return joined(texts);
  const std::size_t more = texts.size() - kNamedInputs;
  texts.resize(kNamedInputs);
  return joined(texts) + " and " + counted(static_cast<std::int64_t>(more), "more input");
}

Status checkDemands(const Plan& plan, const std::map<std::string, Dims>& extents) {
  // Demands were derived under the other conditions. If one of those is violated, only a plan for exactly these extents
  // can tell.
  if (failingCondition(*plan.model, extents, false) != nullptr) return Done{};
  const ExtentCondition* broken = failingCondition(*plan.model, extents, true);
  if (broken == nullptr) return Done{};
  // A condition may be stricter than the node. If all extents are known, the check of the node itself decides.
  const auto types = inferShapes(plan.graph(), extents);
  if (types.ok()) return Done{};
  const std::string& node = types.error().where.node;
  return Diagnostic{.message = "is known to work where " + broken->text() + ", which is not so for " +
                               inputsOf(*broken, *plan.model, extents) + ": " + types.error().message,
                    .where = {.file = plan.model->path, .node = node.empty() ? broken->node : node},
                    .help = otherExtents(*broken, plan)};
}

std::optional<std::string> brokenCondition(const Plan& plan, const std::map<std::string, Dims>& extents) {
  const Graph& graph = plan.graph();
  if (!hasOpenInput(graph)) return std::nullopt;
  const auto types = inferShapes(graph, extents);
  if (!types.ok()) return std::nullopt;
  SymbolValues values;
  for (const ValueId id : graph.allValues()) {
    const auto actual = types.value()[id.index].shape.fixed();
    const Shape& planned = graph.value(id).type.shape;
    if (graph.isConstant(id) || !actual || !planned.ranked) continue;
    bool fits = planned.rank() == actual->size();
    for (std::size_t i = 0; fits && i < actual->size(); ++i) fits = values.fits(planned.dims[i], (*actual)[i]);
    if (fits) continue;
    if (const ExtentCondition* condition = failingCondition(*plan.model, extents, false)) return condition->text();
    return graph.value(id).name + " is " + graph.value(id).type.text();
  }
  return std::nullopt;
}

Result<std::shared_ptr<const Plan>> planForExtents(const Plan& plan, const std::map<std::string, Dims>& extents,
                                                   const StopToken& stop) {
  auto model = std::make_shared<const Model>(TRY(withFixedInputs(*plan.model, extents, stop)));
  return remakePlan(std::move(model), toJson(plan));
}

Result<std::shared_ptr<const Plan>> planAt(const std::shared_ptr<const Plan>& plan,
                                           const std::map<std::string, Dims>& extents, const StopToken& stop) {
  if (!brokenCondition(*plan, extents)) return plan;
  return planForExtents(*plan, extents, stop);
}

}  // namespace fusescope
