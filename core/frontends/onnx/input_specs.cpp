#include "frontends/onnx/input_specs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "frontends/carried_inputs.h"
#include "frontends/exporter_ranges.h"
#include "ir/extent_expression.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// The range that is assumed for an open extent, unless the network needs another.
struct AssumedRange {
  std::int64_t opt;
  std::int64_t max;
};

AssumedRange assumedRange(const Dim& dim, std::size_t axis, std::size_t rank) {
  constexpr AssumedRange kBatch{1, 64};
  constexpr AssumedRange kImage{224, 1024};
  constexpr AssumedRange kSequence{128, 1024};
  if (dim.symbol.find("batch") != std::string::npos || axis == 0) return kBatch;
  return rank >= 4 && axis >= 2 ? kImage : kSequence;
}

/// Returns the exporter's ranges for the extents of the inputs, by the symbols of the file.
ExporterRanges exportersWord(const Graph& graph, const std::map<std::string, std::string>& metadata,
                             std::vector<Decision>& decisions) {
  const auto text = metadata.find(kExporterRangesKey);
  if (text == metadata.end()) return {};
  std::set<std::string> symbols;
  for (const ValueId input : graph.inputs())
    for (const Dim& dim : graph.value(input).type.shape.dims)
      if (!dim.symbol.empty())
        for (const std::string& symbol : ExtentExpression::of(dim).symbols()) symbols.insert(symbol);
  if (symbols.empty()) return {};
  if (const auto ranges = exporterRangesFromText(text->second)) return rangesOfSymbols(*ranges, symbols);
  decisions.push_back(
      decide("import.input_specs_ignored", {}, "import",
             {{"key", kExporterRangesKey}, {"why", "it is not in the form in which PyTorch writes ranges"}}));
  return {};
}

/// Returns the exporter's bounds of an open extent, or nothing if there are none.
std::optional<ExporterRange> rangeOf(const Dim& dim, const ExporterRanges& ranges) {
  if (dim.symbol.empty() || ranges.empty()) return std::nullopt;
  if (const auto whole = ranges.find(dim.symbol); whole != ranges.end()) return whole->second;
  const ExtentExpression extent = ExtentExpression::of(dim);
  if (!extent.valid()) return std::nullopt;
  const auto bounds = extent.within([&](const std::string& symbol) -> std::optional<ExtentExpression::Range> {
    const auto range = ranges.find(symbol);
    if (range == ranges.end() || !range->second.most) return std::nullopt;
    return ExtentExpression::Range{range->second.least, *range->second.most};
  });
  return bounds ? std::optional(ExporterRange{bounds->least, bounds->most}) : std::nullopt;
}

InputSpec specOf(const Value& input, const ExporterRanges& ranges) {
  InputSpec spec{.name = input.name, .dtype = input.type.dtype, .min = {}, .opt = {}, .max = {}, .source = "file"};
  const Shape& shape = input.type.shape;
  if (input.type.container != Container::None) return spec;  // the extents of its elements cannot be chosen
  bool allSaid = shape.ranked;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = shape.dims[axis];
    const auto said = dim.known() ? std::optional(ExporterRange{dim.size, dim.size}) : rangeOf(dim, ranges);
    const AssumedRange assumed = dim.known() ? AssumedRange{dim.size, dim.size} : assumedRange(dim, axis, shape.rank());
    const std::int64_t least = dim.known() ? dim.size : std::max<std::int64_t>(said ? said->least : 1, 1);
    const std::int64_t most = std::max(said && said->most ? *said->most : assumed.max, least);
    spec.min.push_back(least);
    spec.opt.push_back(std::clamp(assumed.opt, least, most));
    spec.max.push_back(most);
    allSaid = allSaid && said && said->most;
  }
  if (!shape.fixed()) spec.source = allSaid ? kFromExporter : "assumed";
  return spec;
}

/// Returns why `said` cannot be the spec of an input with these extents; empty if it can.
std::string misfit(const InputSpec& said, const Value& input) {
  if (input.type.container != Container::None) return "the input is not a tensor";
  const Shape& shape = input.type.shape;
  if (shape.ranked && said.opt.size() != shape.rank()) return "the input has a different number of extents";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (shape.dims[axis].known() &&
        (said.min[axis] != shape.dims[axis].size || said.max[axis] != shape.dims[axis].size))
      return "extent " + std::to_string(axis) + " of the input is " + std::to_string(shape.dims[axis].size);
  return {};
}

}  // namespace

std::vector<InputSpec> specsOf(const Graph& graph, const std::map<std::string, std::string>& metadata,
                               const std::map<std::string, std::string>& graphMetadata,
                               std::vector<Decision>& decisions) {
  const ExporterRanges ranges = exportersWord(graph, graphMetadata, decisions);
  std::vector<InputSpec> specs;
  for (const ValueId id : graph.inputs()) specs.push_back(specOf(graph.value(id), ranges));
  if (const auto text = metadata.find(kInputSpecsKey); text != metadata.end())
    takeCarriedInputs(
        text->second, specs,
        [&](const InputSpec& said, std::size_t input) { return misfit(said, graph.value(graph.inputs()[input])); },
        decisions);
  return specs;
}

}  // namespace fusescope
