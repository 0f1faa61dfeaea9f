#include "frontends/onnx/input_specs.h"

#include <algorithm>
#include <tuple>

#include "frontends/input_spec_metadata.h"

namespace fusescope {
namespace {

/// What an extent that the file leaves open is assumed to be unless the network asks for another.
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

InputSpec specOf(const Value& input) {
  InputSpec spec{.name = input.name, .dtype = input.type.dtype, .min = {}, .opt = {}, .max = {}, .source = "file"};
  const Shape& shape = input.type.shape;
  if (input.type.container != Container::None) return spec;  // the extents of its elements are nobody's to choose
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = shape.dims[axis];
    const AssumedRange range = dim.known() ? AssumedRange{dim.size, dim.size} : assumedRange(dim, axis, shape.rank());
    spec.min.push_back(dim.known() ? dim.size : 1);
    spec.opt.push_back(range.opt);
    spec.max.push_back(range.max);
  }
  if (shape.fixed()) return spec;
  spec.source = "assumed";
  return spec;
}

/// Why `said` cannot be meant for an input with these extents; empty: it can.
std::string misfit(const InputSpec& said, const Shape& shape) {
  if (said.opt.size() != shape.rank()) return "the input has another number of extents";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (shape.dims[axis].known() &&
        (said.min[axis] != shape.dims[axis].size || said.max[axis] != shape.dims[axis].size))
      return "extent " + std::to_string(axis) + " of the input is " + std::to_string(shape.dims[axis].size);
  return {};
}

}  // namespace

std::vector<InputSpec> specsOf(const Graph& graph, const std::map<std::string, std::string>& metadata,
                               std::vector<Decision>& decisions) {
  std::vector<InputSpec> specs;
  for (const ValueId id : graph.inputs()) specs.push_back(specOf(graph.value(id)));
  const auto text = metadata.find(kInputSpecsKey);
  if (text == metadata.end()) return specs;
  const auto ignore = [&](const std::string& why) {
    decisions.push_back(decide("import.input_specs_ignored", {}, "import", {{"key", kInputSpecsKey}, {"why", why}}));
  };
  const auto said = inputSpecsFromText(text->second);
  if (!said.ok()) {
    ignore(said.error().text());
    return specs;
  }
  for (const InputSpec& given : said.value()) {
    const auto spec = std::ranges::find(specs, given.name, &InputSpec::name);
    if (spec == specs.end()) {
      ignore("there is no input '" + given.name + "'");
    } else if (spec->source == "assumed") {
      const std::string why = misfit(given, graph.value(*graph.findValue(given.name)).type.shape);
      if (!why.empty()) {
        ignore("'" + given.name + "': " + why);
        continue;
      }
      std::tie(spec->min, spec->opt, spec->max, spec->source) = std::tie(given.min, given.opt, given.max, given.source);
    }
  }
  return specs;
}

}  // namespace fusescope
