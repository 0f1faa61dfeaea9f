#include "session/open_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "engine/description/described_model.h"
#include "engine/engine.h"
#include "frontends/importers.h"
#include "ir/extent_expression.h"
#include "passes/pipelines.h"

namespace fusescope {
namespace {

Diagnostic inputError(const Model& model, const std::string& input, std::string message, std::string help = {}) {
  return {.message = std::move(message), .where = {.file = model.path, .value = input}, .help = std::move(help)};
}

/// Returns the spec with the user's changes. Bounds that the user did not give are kept as far as they fit between the
/// new ones.
Result<InputSpec> overridden(const Model& model, InputSpec spec, const InputOverride& change) {
  spec.source = "user";
  if (change.dtype) spec.dtype = *change.dtype;
  const bool ranges = change.min || change.opt || change.max;
  if (!change.fixed && !ranges) return spec;
  if (change.fixed && ranges) {
    return inputError(model, spec.name, "has fixed extents and a range at once",
                      "Give either --input or --min/--opt/--max.");
  }
  const Dims* given = change.fixed ? &*change.fixed
                      : change.opt ? &*change.opt
                      : change.max ? &*change.max
                                   : &*change.min;
  const auto rank = given->size();
  const auto fitting = [&](const Dims& kept) { return kept.size() == rank ? kept : *given; };
  spec.min = change.fixed ? *change.fixed : change.min.value_or(fitting(spec.min));
  spec.opt = change.fixed ? *change.fixed : change.opt.value_or(fitting(spec.opt));
  spec.max = change.fixed ? *change.fixed : change.max.value_or(fitting(spec.max));
  if (spec.min.size() != rank || spec.opt.size() != rank || spec.max.size() != rank) {
    return inputError(model, spec.name, "--min, --opt and --max give different numbers of extents");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const auto anchor = (*given)[i];
    if (!change.fixed && !change.min) spec.min[i] = std::min(spec.min[i], change.opt ? spec.opt[i] : anchor);
    if (!change.fixed && !change.max)
      spec.max[i] = std::max({spec.max[i], change.opt ? spec.opt[i] : anchor, spec.min[i]});
    if (!change.fixed && !change.opt)
      spec.opt[i] = std::clamp(spec.opt[i], spec.min[i], std::max(spec.min[i], spec.max[i]));
    if (spec.min[i] > spec.opt[i] || spec.opt[i] > spec.max[i]) {
      return inputError(model, spec.name,
                        fmt::format("min {}, opt {} and max {} are not in order", toText(spec.min), toText(spec.opt),
                                    toText(spec.max)),
                        "Every extent needs min <= opt <= max.");
    }
  }
  return spec;
}

/// Returns the type of the graph input for a spec. Extents that may vary keep their symbols.
Result<TensorType> typeFor(const Model& model, const InputSpec& spec, const TensorType& declared) {
  TensorType type{.dtype = spec.dtype, .shape = declared.shape};
  if (declared.dtype != DataType::Undefined && declared.dtype != spec.dtype) {
    return inputError(model, spec.name,
                      fmt::format("is {} in the file and cannot be made {}", name(declared.dtype), name(spec.dtype)),
                      "The type of an input can only be given if the file does not give it.");
  }
  if (!declared.shape.ranked) type.shape = Shape::of(std::vector<Dim>(spec.opt.size()));
  if (type.shape.rank() != spec.opt.size()) {
    return inputError(
        model, spec.name,
        fmt::format("has {} extents in the file, not {}: {}", type.shape.rank(), spec.opt.size(), declared.text()));
  }
  for (std::size_t i = 0; i < spec.opt.size(); ++i) {
    auto& dim = type.shape.dims[i];
    const bool varies = spec.min[i] != spec.max[i];
    if (dim.known() && (varies || dim.size != spec.opt[i])) {
      return inputError(model, spec.name,
                        fmt::format("extent {} is {} in the file and cannot be {}", i, dim.size,
                                    varies ? fmt::format("a range from {} to {}", spec.min[i], spec.max[i])
                                           : std::to_string(spec.opt[i])),
                        "Only extents that the file leaves open can be given.");
    }
    if (!varies) dim = Dim(spec.opt[i]);
  }
  return type;
}

/// What the user's changes say about the symbols in the file.
struct GivenSymbols {
  std::map<std::string, std::array<std::int64_t, 3>> ranges;  ///< min, opt and max
  ExtentFacts fixed;                                          ///< the symbols that cannot vary
};

GivenSymbols givenSymbols(const Model& before, const std::vector<InputSpec>& specs, const std::vector<bool>& byUser) {
  GivenSymbols given;
  const auto& inputs = before.graph->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& declared = before.graph->value(inputs[i]).type.shape;
    for (std::size_t axis = 0; byUser[i] && axis < declared.rank(); ++axis) {
      if (declared.dims[axis].symbol.empty()) continue;
      const auto symbol = ExtentExpression::of(declared.dims[axis]).onlySymbol();
      if (!symbol) continue;
      given.ranges[*symbol] = {specs[i].min[axis], specs[i].opt[axis], specs[i].max[axis]};
      if (specs[i].min[axis] == specs[i].max[axis]) given.fixed.equals.emplace(*symbol, specs[i].opt[axis]);
    }
  }
  return given;
}

/// A symbol represents the same extent wherever it occurs, so that inputs that share it with a changed input follow
/// that input. An input whose open extents are all given counts as given by the user.
void bindSymbols(const Model& before, GraphEditor& editor, std::vector<InputSpec>& specs,
                 const std::vector<bool>& byUser) {
  const GivenSymbols given = givenSymbols(before, specs, byUser);
  if (given.ranges.empty()) return;
  const auto& inputs = before.graph->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (byUser[i]) continue;
    auto type = before.graph->value(inputs[i]).type;
    bool allGiven = true, someGiven = false;
    for (std::size_t axis = 0; axis < type.shape.rank() && axis < specs[i].opt.size(); ++axis) {
      Dim& dim = type.shape.dims[axis];
      if (dim.known()) continue;
      const ExtentExpression extent = dim.symbol.empty() ? ExtentExpression::invalid() : ExtentExpression::of(dim);
      const auto bound = [&](std::size_t which) {
        return extent.at([&](const std::string& symbol) -> std::optional<std::int64_t> {
          const auto found = given.ranges.find(symbol);
          return found == given.ranges.end() ? std::nullopt : std::optional(found->second[which]);
        });
      };
      const auto min = bound(0), opt = bound(1), max = bound(2);
      allGiven = allGiven && min && opt && max;
      if (extent.valid()) dim = extent.under(given.fixed).dim();
      if (!min || !opt || !max) continue;
      someGiven = true;
      std::tie(specs[i].min[axis], specs[i].opt[axis], specs[i].max[axis]) = std::tuple(*min, *opt, *max);
    }
    if (allGiven && someGiven) specs[i].source = "user";
    editor.setType(inputs[i], type);
  }
}

Result<Model> withInputs(Model model, const std::vector<InputOverride>& changes) {
  if (changes.empty()) return model;
  GraphEditor editor(*model.graph);
  std::vector<std::string> names;
  for (const auto& spec : model.inputSpecs) names.push_back(spec.name);
  std::vector<bool> byUser(names.size(), false);
  for (const auto& change : changes) {
    const auto found = std::ranges::find(names, change.name);
    if (found == names.end()) {
      return inputError(model, change.name, "the model has no input of this name",
                        fmt::format("Its inputs are {}.", joined(names)));
    }
    const auto index = static_cast<std::size_t>(found - names.begin());
    const auto value = model.graph->inputs()[index];
    model.inputSpecs[index] = TRY(overridden(model, model.inputSpecs[index], change));
    editor.setType(value, TRY(typeFor(model, model.inputSpecs[index], model.graph->value(value).type)));
    byUser[index] = true;
  }
  bindSymbols(model, editor, model.inputSpecs, byUser);
  model.graph = TRY(std::move(editor).publish());
  return model;
}

}  // namespace

std::vector<InputOverride> givenExtents(const std::vector<InputSpec>& specs) {
  std::vector<InputOverride> given;
  for (const InputSpec& spec : specs)
    if (spec.source == "user") given.push_back({.name = spec.name, .min = spec.min, .opt = spec.opt, .max = spec.max});
  return given;
}

Result<std::shared_ptr<const Model>> openModel(const std::filesystem::path& path,
                                               const std::vector<InputOverride>& inputs, const StopToken& stop,
                                               const Progress& progress) {
  const auto report = [&](std::string_view phase) {
    if (progress) progress(phase, path.filename().string());
  };
  if (isEngineFile(path)) {
    if (!inputs.empty()) {
      return Diagnostic{.message = "an engine already contains the extents of its inputs",
                        .where = {.file = path.string()},
                        .help = "Give --input when the engine is built."};
    }
    report("read engine");
    const auto model = TRY(openEngineFile(path)).plan->model;
    TRY(checkCurrent(model->files));
    return model;
  }
  report("import");
  auto imported = TRY(importModel(path, {}, stop));
  report("prepare");
  const MappedFiles files = imported.files;
  auto prepared = prepareModel(TRY(withInputs(std::move(imported), inputs)), stop);
  if (prepared.ok() || !prepared.error().cancelled) TRY(checkCurrent(files));
  auto model = std::make_shared<const Model>(TRY(std::move(prepared)));
  describeAhead(model);
  return model;
}

}  // namespace fusescope
