#include "frontends/carried_inputs.h"

#include <algorithm>
#include <tuple>

#include "frontends/exporter_ranges.h"
#include "ir/extent_expression.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Returns the name of an axis of the input in the file, even if it was found to be equal to another axis; empty if it
/// has no name.
std::string symbolOf(const Model& model, std::size_t input, std::size_t axis) {
  const TensorType& type = input < model.declaredInputs.size() ? model.declaredInputs[input]
                                                               : model.graph->value(model.graph->inputs()[input]).type;
  return axis < type.shape.rank() ? type.shape.dims[axis].symbol : std::string();
}

}  // namespace

void takeCarriedInputs(std::string_view text, std::vector<InputSpec>& specs, const SpecMisfit& misfit,
                       std::vector<Decision>& decisions) {
  const auto ignore = [&](const std::string& why) {
    decisions.push_back(decide("import.input_specs_ignored", {}, "import", {{"key", kInputSpecsKey}, {"why", why}}));
  };
  const auto carried = carriedInputsFromText(text);
  if (!carried.ok()) return ignore(carried.error().text());
  if (carried.value().isNewer()) {
    decisions.push_back(
        decide("import.input_specs_newer", {}, "import",
               {{"key", kInputSpecsKey}, {"version", carried.value().version}, {"known", kInputSpecsVersion}}));
    return;
  }
  for (const CarriedInput& input : carried.value().inputs) {
    const InputSpec& said = input.spec;
    const auto spec = std::ranges::find(specs, said.name, &InputSpec::name);
    if (spec == specs.end()) {
      ignore("there is no input '" + said.name + "'");
      continue;
    }
    std::string why = misfit(said, static_cast<std::size_t>(spec - specs.begin()));
    const bool isTyped = said.dtype != DataType::Undefined && spec->dtype != DataType::Undefined;
    if (why.empty() && isTyped && said.dtype != spec->dtype)
      why = "the type of the input is " + std::string(name(spec->dtype));
    if (!why.empty()) {
      ignore("'" + said.name + "': " + why);
      continue;
    }
    if (spec->dtype == DataType::Undefined) spec->dtype = said.dtype;
    if (spec->source == "file") continue;
    std::tie(spec->min, spec->opt, spec->max, spec->source) = std::tie(said.min, said.opt, said.max, said.source);
  }
}

std::string exporterRangesWith(std::string_view text, const std::vector<CarriedInput>& inputs) {
  auto ranges = exporterRangesFromText(text);
  if (!ranges || text.find("-int_oo") != text.npos) return {};  // it also contains numbers that are not extents
  ExporterRanges said;
  for (const CarriedInput& input : inputs)
    for (std::size_t axis = 0; axis < input.symbols.size(); ++axis)
      if (isExtentSymbol(input.symbols[axis]))
        said[input.symbols[axis]] = {.least = input.spec.min[axis], .most = input.spec.max[axis]};
  // If there is one symbol and one range, they belong together, whatever their names are.
  if (ranges->size() == 1 && said.size() == 1) {
    ranges->begin()->second = said.begin()->second;
  } else {
    for (const auto& [symbol, range] : said) (*ranges)[symbol] = range;
  }
  return exporterRangesText(*ranges);
}

std::vector<CarriedInput> carriedInputsOf(const Model& model) {
  std::vector<CarriedInput> inputs;
  for (std::size_t i = 0; i < model.inputSpecs.size() && i < model.graph->inputs().size(); ++i) {
    const InputSpec& spec = model.inputSpecs[i];
    const bool isContainer = model.graph->value(model.graph->inputs()[i]).type.container != Container::None;
    if (spec.source == "assumed" || isContainer) continue;
    CarriedInput input{.spec = spec, .givenBy = spec.source};
    for (std::size_t axis = 0; axis < spec.opt.size(); ++axis) input.symbols.push_back(symbolOf(model, i, axis));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace fusescope
