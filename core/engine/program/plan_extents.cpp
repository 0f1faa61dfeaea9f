#include "engine/program/plan_extents.h"

#include <algorithm>

#include "ops/type_flow.h"
#include "passes/pipelines.h"

namespace fusescope {
namespace {

/// Returns the types of the inputs with the symbols to which conditions refer.
std::vector<TensorType> inputTypesOf(const Plan& plan) {
  if (!plan.model->declaredInputs.empty()) return plan.model->declaredInputs;
  std::vector<TensorType> types;
  for (const ValueId input : plan.graph().inputs()) types.push_back(plan.graph().value(input).type);
  return types;
}

/// Returns whether inference from the inputs' open extents, under exactly the plan's conditions, gives the plan's
/// types.
bool infersAgain(const Plan& plan) {
  const Graph& graph = plan.graph();
  const auto flow = flowTypes(graph, inputTypesOf(plan),
                              {.declared = DeclaredTypes::Fill,
                               .compute = ComputeValues::Small,
                               .assumeEqual = true,
                               .conditions = plan.model->conditions});
  if (!flow.ok() || flow.value().conditions != plan.model->conditions) return false;
  return std::ranges::all_of(graph.allValues(), [&](ValueId id) {
    return graph.isConstant(id) || flow.value().types[id.index].shape == graph.value(id).type.shape;
  });
}

}  // namespace

PlanExtents::PlanExtents(const Plan& plan) : m_plan(&plan), m_open(plan.graph().valueIdLimit()) {
  const std::vector<TensorType> types = inputTypesOf(plan);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string& name = plan.graph().value(plan.graph().inputs()[i]).name;
    for (std::size_t axis = 0; axis < types[i].shape.rank(); ++axis) {
      const Dim& dim = types[i].shape.dims[axis];
      if (dim.known()) continue;
      m_inputAxes.push_back({name, axis, dim, ExtentExpression::of(dim)});
      if (isExtentSymbol(dim.symbol) && std::ranges::find(m_symbols, dim.symbol) == m_symbols.end())
        m_symbols.push_back(dim.symbol);
    }
  }
}

std::size_t PlanExtents::numberOf(const std::string& expression) {
  const auto place = static_cast<std::size_t>(std::ranges::find(m_texts, expression) - m_texts.begin());
  if (place == m_texts.size()) {
    m_texts.push_back(expression);
    m_expressions.push_back(ExtentExpression::of(Dim::named(expression)));
  }
  return place;
}

bool PlanExtents::readConditions() {
  for (const ExtentCondition& condition : m_plan->model->conditions) {
    auto left = ExtentExpression::parse(condition.left), right = ExtentExpression::parse(condition.right);
    if (!left || !right) return false;
    m_conditions.push_back({std::move(*left), std::move(*right), condition.relation});
  }
  return true;
}

/// Returns false if an extent is not an expression of the inputs' symbols.
bool PlanExtents::readValues() {
  const Graph& graph = m_plan->graph();
  for (const ValueId id : graph.allValues()) {
    const TensorType& type = graph.value(id).type;
    if (graph.isConstant(id)) continue;
    if (type.container != Container::None || !type.shape.ranked) return false;
    for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
      const Dim& dim = type.shape.dims[axis];
      if (dim.known()) continue;
      if (dim.symbol.empty()) return false;
      m_open[id.index].push_back({axis, numberOf(dim.symbol)});
    }
  }
  return std::ranges::all_of(m_expressions, [&](const ExtentExpression& expression) {
    return expression.valid() && std::ranges::all_of(expression.symbols(), [&](const std::string& symbol) {
             return std::ranges::find(m_symbols, symbol) != m_symbols.end();
           });
  });
}

bool PlanExtents::agreesWith(const std::vector<TensorType>& types, const Numbers& numbers) const {
  const Graph& graph = m_plan->graph();
  return std::ranges::all_of(graph.allValues(), [&](ValueId id) {
    if (graph.isConstant(id)) return true;
    const auto inferred = types[id.index].shape.fixed();
    return inferred && SmallDims(*inferred) == dimsOf(id, numbers);
  });
}

std::optional<PlanExtents> PlanExtents::prove(const Plan& plan, const std::map<std::string, Dims>& known) {
  PlanExtents extents(plan);
  if (extents.m_inputAxes.empty() || !extents.readConditions() || !extents.readValues() || !infersAgain(plan))
    return std::nullopt;
  const auto numbers = extents.numbersFor(known);
  const auto types = inferShapes(plan.graph(), known);
  if (!numbers || !types.ok() || !extents.agreesWith(types.value(), *numbers)) return std::nullopt;
  return extents;
}

std::optional<std::int64_t> PlanExtents::valueOf(const std::string& symbol, const Numbers& symbols) const {
  const auto place = std::ranges::find(m_symbols, symbol) - m_symbols.begin();
  const bool isKnown = place < std::ssize(m_symbols) && symbols[static_cast<std::size_t>(place)] > 0;
  return isKnown ? std::optional(symbols[static_cast<std::size_t>(place)]) : std::nullopt;
}

std::optional<PlanExtents::Numbers> PlanExtents::numbersFor(const std::map<std::string, Dims>& inputs) const {
  Numbers symbols(m_symbols.size(), 0);
  const auto extentAt = [&](const InputAxis& at) -> std::int64_t {
    const auto given = inputs.find(at.input);
    return given == inputs.end() || at.axis >= given->second.size() ? 0 : given->second[at.axis];
  };
  for (const InputAxis& at : m_inputAxes) {
    const auto place = std::ranges::find(m_symbols, at.dim.symbol) - m_symbols.begin();
    if (place < std::ssize(m_symbols)) symbols[static_cast<std::size_t>(place)] = extentAt(at);
  }
  const auto valueOf = [&](const std::string& symbol) { return this->valueOf(symbol, symbols); };
  for (const InputAxis& at : m_inputAxes) {
    const bool isSymbol = isExtentSymbol(at.dim.symbol);
    const auto value = isSymbol ? valueOf(at.dim.symbol) : at.expression.at(valueOf);
    if (value != extentAt(at)) return std::nullopt;
  }
  for (const Condition& condition : m_conditions) {
    const auto left = condition.left.at(valueOf), right = condition.right.at(valueOf);
    const bool isEqual = condition.relation == ExtentCondition::Relation::Equal;
    if (!left || !right || !(isEqual ? *left == *right : *left <= *right)) return std::nullopt;
  }
  Numbers numbers;
  numbers.reserve(m_expressions.size());
  for (std::size_t i = 0; i < m_expressions.size(); ++i) {
    const auto value = isExtentSymbol(m_texts[i]) ? valueOf(m_texts[i]) : m_expressions[i].at(valueOf);
    if (!value || *value <= 0) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers;
}

SmallDims PlanExtents::dimsOf(ValueId value, const Numbers& numbers) const {
  const std::vector<Dim>& dims = m_plan->graph().value(value).type.shape.dims;
  SmallDims extents(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) extents[i] = dims[i].size;
  for (const OpenAxis& open : m_open[value.index]) extents[open.axis] = numbers[open.number];
  return extents;
}

}  // namespace fusescope
