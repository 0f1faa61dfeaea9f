#include "analysis/cost.h"

#include "ops/op_schema.h"

namespace fusescope {

namespace {

/// The values of the symbols that stand alone on an input.
std::map<std::string, std::int64_t> symbolValues(const Model& model, UsualExtents::Choice choice) {
  std::map<std::string, std::int64_t> values;
  const auto& inputs = model.graph->inputs();
  for (std::size_t i = 0; i < inputs.size() && i < model.inputSpecs.size(); ++i) {
    const InputSpec& spec = model.inputSpecs[i];
    const Dims& extents = choice == UsualExtents::Choice::Least  ? spec.min
                          : choice == UsualExtents::Choice::Most ? spec.max
                                                                 : spec.opt;
    const std::vector<Dim>& dims = model.graph->value(inputs[i]).type.shape.dims;
    for (std::size_t axis = 0; axis < dims.size() && axis < extents.size(); ++axis)
      if (extents[axis] >= 0 && isExtentSymbol(dims[axis].symbol)) values.try_emplace(dims[axis].symbol, extents[axis]);
  }
  return values;
}

/// Evaluates extents; each text once.
class Evaluation {
 public:
  explicit Evaluation(std::map<std::string, std::int64_t> values) : m_values(std::move(values)) {}

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
    const auto valueOf = [&](const std::string& symbol) {
      const auto found = m_values.find(symbol);
      return found == m_values.end() ? std::nullopt : std::optional(found->second);
    };
    return place->second = ExtentExpression::of(Dim::named(text)).at(valueOf);
  }

  std::map<std::string, std::int64_t> m_values;                ///< of symbols
  std::map<std::string, std::optional<std::int64_t>> m_known;  ///< of texts
};

/// The extents of each valid value; nothing if one is not known. Absent optionals have no extents.
std::optional<std::vector<Dims>> extentsOf(const UsualExtents& usual, const std::vector<ValueId>& values) {
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

UsualExtents::UsualExtents(const Model& model, Choice choice) : m_graph(*model.graph) {
  Evaluation evaluation(symbolValues(model, choice));
  for (const ValueId id : m_graph.allValues()) {
    const TensorType& type = m_graph.value(id).type;
    if (type.container != Container::None || type.shape.fixed()) continue;
    if (auto dims = evaluation.of(type.shape)) m_open.emplace(id, std::move(*dims));
  }
}

std::optional<Dims> UsualExtents::of(ValueId value) const {
  const TensorType& type = m_graph.value(value).type;
  if (type.container != Container::None) return std::nullopt;
  if (auto fixed = type.shape.fixed()) return fixed;
  const auto open = m_open.find(value);
  return open == m_open.end() ? std::nullopt : std::optional(open->second);
}

std::optional<std::int64_t> flopsOfNode(const UsualExtents& extents, const Node& node) {
  const auto inputs = extentsOf(extents, node.inputs);
  const auto outputs = extentsOf(extents, node.outputs);
  if (!inputs || !outputs) return std::nullopt;
  return flopsOf(node, *inputs, *outputs);
}

bool readsPart(const Node& node, ValueId value) {
  return node.input(0) == value && (node.is("Gather") || node.is("GatherElements") || node.is("GatherND") ||
                                    node.is("Slice") || node.is("Compress"));
}

std::optional<std::int64_t> bytesOfValue(const UsualExtents& extents, ValueId value, DataType type) {
  const std::optional<Dims> dims = extents.of(value);
  if (!dims) return std::nullopt;
  const std::optional<std::int64_t> count = elementCount(*dims);
  if (!count) return std::nullopt;
  return static_cast<std::int64_t>(byteSize(type, *count));
}

std::optional<std::int64_t> bytesOfConversion(const UsualExtents& extents, ValueId value, DataType from, DataType to) {
  const auto read = bytesOfValue(extents, value, from), written = bytesOfValue(extents, value, to);
  return read && written ? std::optional(*read + *written) : std::nullopt;
}

}  // namespace fusescope
