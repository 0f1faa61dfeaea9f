#include "passes/input_symbols.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope {

InputSymbols::InputSymbols(const Graph& graph, const std::vector<InputSpec>& specs) {
  bindGiven(graph, specs);
  for (std::size_t i = 0; i < graph.inputs().size() && i < specs.size(); ++i) {
    const Value& value = graph.value(graph.inputs()[i]);
    m_types.push_back(value.type);
    m_extents.emplace_back();
    const bool isOpenSource = specs[i].source == "assumed" || specs[i].source == "exporter";
    const bool open = isOpenSource && value.type.container == Container::None;
    m_open.push_back(open);
    if (specs[i].dtype != DataType::Undefined) m_types.back().dtype = specs[i].dtype;
    if (open) {
      addOpen(i, value, specs[i]);
    } else if (value.type.container == Container::None) {
      for (const std::int64_t extent : specs[i].opt) m_extents.back().emplace_back(extent);
    }
  }
}

std::size_t InputSymbols::symbolFor(const std::string& key, InputSymbol symbol) {
  const auto found = std::ranges::find(m_keys, key);
  if (found != m_keys.end()) return static_cast<std::size_t>(found - m_keys.begin());
  m_keys.push_back(key);
  m_symbols.push_back(std::move(symbol));
  return m_keys.size() - 1;
}

/// What the user or the file's metadata say about one input also applies to other inputs with the same symbols.
void InputSymbols::bindGiven(const Graph& graph, const std::vector<InputSpec>& specs) {
  for (std::size_t i = 0; i < graph.inputs().size() && i < specs.size(); ++i) {
    const Shape& shape = graph.value(graph.inputs()[i]).type.shape;
    if (specs[i].source != "user" && specs[i].source != "metadata") continue;
    for (std::size_t axis = 0; axis < shape.rank() && axis < specs[i].opt.size(); ++axis) {
      if (shape.dims[axis].symbol.empty()) continue;
      const auto symbol = ExtentExpression::of(shape.dims[axis]).onlySymbol();
      if (symbol)
        symbolFor(*symbol, {.name = *symbol,
                            .min = specs[i].min[axis],
                            .opt = specs[i].opt[axis],
                            .max = specs[i].max[axis],
                            .given = true});
    }
  }
}

void InputSymbols::addOpen(std::size_t input, const Value& value, const InputSpec& spec) {
  const Shape& shape = value.type.shape;
  std::vector<ExtentExpression>& extents = m_extents[input];
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = shape.dims[axis];
    ExtentExpression extent =
        dim.known() || !dim.symbol.empty() ? ExtentExpression::of(dim) : ExtentExpression::invalid();
    if (dim.known()) {
      extents.push_back(extent);
      continue;
    }
    const InputSymbol assumed{.name = "extent " + std::to_string(axis) + " of " + value.name,
                              .min = spec.min[axis],
                              .opt = spec.opt[axis],
                              .max = spec.max[axis]};
    if (!extent.valid()) {
      const std::string key = extentSymbol(assumed.name);
      extent = ExtentExpression::symbol(key);
      symbolFor(key, assumed);
    }
    for (const std::string& symbol : extent.symbols()) {
      InputSymbol named = assumed;
      named.name = symbol;
      symbolFor(symbol, extent.onlySymbol() ? named : InputSymbol{.name = symbol, .min = 1, .opt = 1, .max = 1024});
    }
    extents.push_back(std::move(extent));
  }
}

std::vector<std::size_t> InputSymbols::ofInput(std::size_t input) const {
  std::vector<std::size_t> found;
  if (!m_open[input]) return found;
  for (const ExtentExpression& extent : m_extents[input])
    for (const std::string& symbol : extent.symbols()) {
      const auto at = static_cast<std::size_t>(std::ranges::find(m_keys, symbol) - m_keys.begin());
      if (at < m_keys.size() && std::ranges::find(found, at) == found.end()) found.push_back(at);
    }
  return found;
}

Dims InputSymbols::extents(std::size_t input, const std::vector<std::int64_t>& values) const {
  const auto valueOf = [&](const std::string& symbol) -> std::optional<std::int64_t> {
    const auto at = std::ranges::find(m_keys, symbol);
    if (at == m_keys.end()) return std::nullopt;
    return values[static_cast<std::size_t>(at - m_keys.begin())];
  };
  Dims dims;
  for (const ExtentExpression& extent : m_extents[input])
    dims.push_back(std::max<std::int64_t>(extent.at(valueOf).value_or(-1), -1));
  return dims;
}

std::optional<std::vector<TensorType>> InputSymbols::types(const std::vector<std::int64_t>& values) const {
  std::vector<TensorType> types = m_types;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].container != Container::None) continue;
    const Dims dims = extents(i, values);
    if (std::ranges::any_of(dims, [](std::int64_t extent) { return extent < 0; })) return std::nullopt;
    types[i].shape = Shape::of(dims);
  }
  return types;
}

}  // namespace fusescope
