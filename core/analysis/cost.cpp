#include "analysis/cost.h"

#include <algorithm>

#include "ops/run_node.h"
#include "ops/support/work.h"

namespace fusescope {

namespace {

using SymbolValues = std::map<std::string, std::int64_t>;
using Choice = ChosenExtents::Choice;

ExtentExpression::ValueOf lookUp(const SymbolValues& values) {
  return [&values](const std::string& symbol) {
    const auto found = values.find(symbol);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

constexpr int kMostSteps = 4096;

/// Moves the only symbol of `condition` inwards until the condition is true, unless that is too far.
void moveInwards(const ExtentCondition& condition, Choice choice, SymbolValues& values) {
  const auto left = ExtentExpression::parse(condition.left), right = ExtentExpression::parse(condition.right);
  if (!left || !right || holds(condition, lookUp(values)).value_or(true)) return;
  const auto holdsNow = [&, valueOf = lookUp(values)] {
    const auto a = left->at(valueOf), b = right->at(valueOf);
    return a && b && (condition.relation == ExtentCondition::Relation::Equal ? *a == *b : *a <= *b);
  };
  const std::vector<std::string> symbols = (*right - *left).symbols();
  const auto found = symbols.size() == 1 ? values.find(symbols[0]) : values.end();
  if (found == values.end()) return;
  const std::int64_t from = found->second, step = choice == Choice::Most ? -1 : 1;
  for (int steps = 0; steps < kMostSteps && found->second > 0 && !holdsNow(); ++steps) found->second += step;
  if (!holdsNow()) found->second = from;
}

/// Returns the values of the symbols that alone form an extent of an input; none if the model's conditions cannot be
/// true with them.
SymbolValues symbolValues(const Model& model, Choice choice) {
  SymbolValues values;
  const auto& inputs = model.graph->inputs();
  for (std::size_t i = 0; i < inputs.size() && i < model.inputSpecs.size(); ++i) {
    const InputSpec& spec = model.inputSpecs[i];
    const Dims& extents = choice == Choice::Least ? spec.min : choice == Choice::Most ? spec.max : spec.opt;
    const std::vector<Dim>& dims = model.graph->value(inputs[i]).type.shape.dims;
    for (std::size_t axis = 0; axis < dims.size() && axis < extents.size(); ++axis)
      if (extents[axis] >= 0 && isExtentSymbol(dims[axis].symbol)) values.try_emplace(dims[axis].symbol, extents[axis]);
  }
  for (const ExtentCondition& condition : model.conditions)
    if (choice != Choice::Usual) moveInwards(condition, choice, values);
  for (const ExtentCondition& condition : model.conditions)
    if (!holds(condition, lookUp(values)).value_or(true)) return {};
  return values;
}

/// Evaluates extents; each text is evaluated once.
class Evaluation {
 public:
  explicit Evaluation(SymbolValues values) : m_values(std::move(values)) {}

  std::optional<Dims> of(const Shape& shape) {
    if (!shape.ranked) return std::nullopt;
    Dims dims;
    for (const Dim& dim : shape.dims) {
      const auto extent = dim.known() ? std::optional(dim.size) : of(dim.symbol);
      if (!extent || *extent < 0) return std::nullopt;
      dims.push_back(*extent);
    }
    return dims;
  }

 private:
  std::optional<std::int64_t> of(const std::string& text) {
    const auto [place, isNew] = m_known.try_emplace(text);
    if (!isNew || text.empty()) return place->second;
    return place->second = ExtentExpression::of(Dim::named(text)).at(lookUp(m_values));
  }

  SymbolValues m_values;
  std::map<std::string, std::optional<std::int64_t>> m_known;  ///< of texts
};

/// Returns the extents of each valid value, or nothing if those of one are unknown. Absent optional inputs have no
/// extents.
std::optional<std::vector<Dims>> extentsOf(const ChosenExtents& usual, const std::vector<ValueId>& values) {
  std::vector<Dims> extents;
  for (ValueId value : values) {
    if (!value.valid()) {
      extents.emplace_back();
      continue;
    }
    std::optional<Dims> fixed = usual.of(value);
    if (!fixed) return std::nullopt;
    extents.push_back(std::move(*fixed));
  }
  return extents;
}

}  // namespace

ChosenExtents::ChosenExtents(const Model& model, Choice choice) : m_graph(*model.graph) {
  Evaluation evaluation(symbolValues(model, choice));
  for (const ValueId id : m_graph.allValues()) {
    const TensorType& type = m_graph.value(id).type;
    if (type.container != Container::None || type.shape.fixed()) continue;
    if (auto dims = evaluation.of(type.shape)) m_open.emplace(id, std::move(*dims));
  }
}

std::optional<Dims> ChosenExtents::of(ValueId value) const {
  const TensorType& type = m_graph.value(value).type;
  if (type.container != Container::None) return std::nullopt;
  if (auto fixed = type.shape.fixed()) return fixed;
  const auto open = m_open.find(value);
  return open == m_open.end() ? std::nullopt : std::optional(open->second);
}

std::optional<std::map<std::string, Dims>> ChosenExtents::ofInputs() const {
  std::map<std::string, Dims> extents;
  for (const ValueId input : m_graph.inputs()) {
    const Value& value = m_graph.value(input);
    if (value.type.container != Container::None) continue;
    auto dims = of(input);
    if (!dims) return std::nullopt;
    extents.emplace(value.name, std::move(*dims));
  }
  return extents;
}

bool hasOpenInputs(const Model& model) {
  return std::ranges::any_of(model.graph->inputs(), [&](ValueId input) {
    const TensorType& type = model.graph->value(input).type;
    return type.container == Container::None && !type.shape.fixed();
  });
}

std::optional<std::int64_t> knownSum(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
  std::int64_t sum = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &sum) ? std::optional(sum) : std::nullopt;
}

std::optional<std::int64_t> flopsOfNode(const ChosenExtents& extents, const Node& node) {
  const auto inputs = extentsOf(extents, node.inputs);
  const auto outputs = extentsOf(extents, node.outputs);
  if (!inputs || !outputs) return std::nullopt;
  const std::int64_t flops = flopsOf(node, *inputs, *outputs);
  return flops == ops::kBeyondCounting ? std::nullopt : std::optional(flops);
}

bool readsPart(const Node& node, ValueId value) {
  return node.input(0) == value && (node.is("Gather") || node.is("GatherElements") || node.is("GatherND") ||
                                    node.is("Slice") || node.is("Compress"));
}

std::optional<std::int64_t> bytesOfValue(const ChosenExtents& extents, ValueId value, DataType type) {
  const std::optional<Dims> dims = extents.of(value);
  if (!dims) return std::nullopt;
  const std::optional<std::int64_t> count = elementCount(*dims);
  if (!count) return std::nullopt;
  return static_cast<std::int64_t>(byteSize(type, *count));
}

std::optional<std::int64_t> bytesOfConversion(const ChosenExtents& extents, ValueId value, DataType from, DataType to) {
  const auto read = bytesOfValue(extents, value, from), written = bytesOfValue(extents, value, to);
  return read && written ? std::optional(*read + *written) : std::nullopt;
}

}  // namespace fusescope
