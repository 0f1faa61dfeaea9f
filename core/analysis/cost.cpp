#include "analysis/cost.h"

#include "ops/op_schema.h"

namespace fusescope {

namespace {

/// The extents of a tensor if all are known; a container has none of its own.
std::optional<Dims> fixedExtents(const Graph& graph, ValueId value) {
  const TensorType& type = graph.value(value).type;
  return type.container == Container::None ? type.shape.fixed() : std::nullopt;
}

/// The extents of each valid value; nothing if one is not known. Absent optionals have no extents.
std::optional<std::vector<Dims>> extentsOf(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<Dims> extents;
  for (ValueId value : values) {
    if (!value.valid()) {
      extents.emplace_back();
      continue;
    }
    std::optional<Dims> fixed = fixedExtents(graph, value);
    if (!fixed) return std::nullopt;
    extents.push_back(std::move(*fixed));
  }
  return extents;
}

}  // namespace

std::optional<std::int64_t> flopsOfNode(const Graph& graph, const Node& node) {
  const auto inputs = extentsOf(graph, node.inputs);
  const auto outputs = extentsOf(graph, node.outputs);
  if (!inputs || !outputs) return std::nullopt;
  return flopsOf(node, *inputs, *outputs);
}

bool readsPart(const Node& node, ValueId value) {
  return node.input(0) == value && (node.is("Gather") || node.is("GatherElements") || node.is("GatherND") ||
                                    node.is("Slice") || node.is("Compress"));
}

std::optional<std::int64_t> bytesOfValue(const Graph& graph, ValueId value, DataType type) {
  const std::optional<Dims> dims = fixedExtents(graph, value);
  if (!dims) return std::nullopt;
  const std::optional<std::int64_t> count = elementCount(*dims);
  if (!count) return std::nullopt;
  return static_cast<std::int64_t>(byteSize(type, *count));
}

std::optional<std::int64_t> bytesOfConversion(const Graph& graph, ValueId value, DataType from, DataType to) {
  const auto read = bytesOfValue(graph, value, from), written = bytesOfValue(graph, value, to);
  return read && written ? std::optional(*read + *written) : std::nullopt;
}

}  // namespace fusescope
