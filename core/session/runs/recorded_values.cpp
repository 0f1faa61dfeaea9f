#include "session/runs/recorded_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "backends/reference/reference_backend.h"
#include "onnxlib/edited_network.h"
#include "passes/pipelines.h"
#include "session/artifact.h"
#include "session/open_model.h"

namespace fusescope {
namespace {

/// Returns the user's extents of the inputs that `part` has.
std::vector<InputOverride> overridesFor(const NetworkPart& part, const Plan& plan) {
  std::vector<InputOverride> overrides = givenExtents(plan.inputSpecs);
  std::erase_if(overrides, [&](const InputOverride& given) {
    return std::ranges::find(part.inputs, given.name) == part.inputs.end();
  });
  return overrides;
}

enum class End { Least, Usual, Most };

std::map<std::string, Dims> extentsAt(const Model& model, End end) {
  std::map<std::string, Dims> extents;
  for (const InputSpec& spec : model.inputSpecs)
    extents[spec.name] = end == End::Least ? spec.min : end == End::Usual ? spec.opt : spec.max;
  return extents;
}

/// Returns, for each output of `model`, the extents that it may have according to the inputs; nullopt if they are
/// unknown.
std::vector<std::optional<InputSpec>> specsOf(const Model& model) {
  const Graph& graph = *model.graph;
  std::vector<std::optional<InputSpec>> specs(graph.outputs().size());
  const auto usual = inferShapes(graph, extentsAt(model, End::Usual));
  const auto least = inferShapes(graph, extentsAt(model, End::Least));
  const auto most = inferShapes(graph, extentsAt(model, End::Most));
  if (!usual.ok() || !least.ok() || !most.ok()) return specs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ValueId value = graph.outputs()[i];
    const auto min = least.value()[value.index].shape.fixed(), max = most.value()[value.index].shape.fixed();
    const auto opt = usual.value()[value.index].shape.fixed();
    if (min && opt && max && min->size() == max->size() && min->size() == opt->size())
      specs[i] = InputSpec{.name = graph.value(value).name, .min = *min, .opt = *opt, .max = *max};
  }
  return specs;
}

/// Observed extents are possible even if inference does not know them or says otherwise.
void widen(std::optional<InputSpec>& spec, const std::string& name, const Dims& dims) {
  if (!spec || spec->min.size() != dims.size()) spec = InputSpec{.name = name, .min = dims, .opt = dims, .max = dims};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    spec->min[axis] = std::min(spec->min[axis], dims[axis]);
    spec->max[axis] = std::max(spec->max[axis], dims[axis]);
    spec->opt[axis] = std::clamp(spec->opt[axis], spec->min[axis], spec->max[axis]);
  }
}

/// The network that calculates the values, read and prepared.
struct Recorder {
  NetworkPart part;
  std::shared_ptr<const Model> model;
};

Result<Recorder> recorderOf(const NetworkCutter& cutter, const Plan& plan, const std::vector<std::string>& made,
                            const std::filesystem::path& folder, const StopToken& stop) {
  Recorder recorder{.part = partThatMakes(cutter.values(), made), .model = {}};
  ValueTypes types;
  for (const std::string& input : recorder.part.inputs)
    if (const auto type = cutter.inputType(input)) types[input] = *type;
  const Graph& graph = *cutter.model().graph;
  for (const std::string& output : made)
    if (const auto known = graph.findValue(output)) types[output] = graph.value(*known).type;
  std::vector<InputSpec> specs;
  for (const InputSpec& spec : cutter.model().inputSpecs)
    if (spec.source != "assumed" && std::ranges::find(recorder.part.inputs, spec.name) != recorder.part.inputs.end())
      specs.push_back(spec);
  const std::filesystem::path path = folder / "values.onnx";
  TRY(onnxlib::writeNetwork(path, TRY(cutter.cut(recorder.part, types, specs, onnxlib::weightsNameOf(path)))));
  recorder.model = TRY(openModel(path, overridesFor(recorder.part, plan), stop));
  return recorder;
}

}  // namespace

Result<std::vector<std::map<std::string, Tensor>>> runOnSamples(std::shared_ptr<const Model> model,
                                                                const Samples& samples,
                                                                const RecordingOptions& options) {
  const auto plan = TRY(makePlan(std::move(model), {}, nullptr, options.stop));
  const BuildOptions build{.backend = options.backend.empty() ? std::string(kReferenceBackend) : options.backend,
                           .threads = options.threads,
                           .measureTactics = false,
                           .stop = options.stop};
  std::set<std::string> names;
  for (const ValueId input : plan->graph().inputs()) names.insert(plan->graph().value(input).name);
  std::unique_ptr<Engine> engine;
  std::vector<std::map<std::string, Tensor>> results;
  for (const Sample& sample : samples.list) {
    if (options.progress) options.progress("run", sample.name);
    std::map<std::string, Tensor> inputs = sample.inputs;
    std::erase_if(inputs, [&](const auto& entry) { return !names.contains(entry.first); });
    if (engine == nullptr) {
      BuildOptions atExtents = build;
      for (const auto& [name, tensor] : inputs)
        if (tensor.container() == Container::None) atExtents.shapes[name] = tensor.dims();
      engine = TRY(buildEngine(plan, atExtents));
    }
    results.push_back(TRY(inSample(engine->run(inputs, {}, options.stop), sample, samples.list.size())).outputs);
  }
  return results;
}

Result<RecordedValues> recordValues(const NetworkCutter& cutter, const Plan& plan,
                                    const std::vector<std::string>& values, const Samples* samples,
                                    const std::filesystem::path& folder, const RecordingOptions& options) {
  RecordedValues recorded;
  std::vector<std::string> made;
  std::map<std::string, std::optional<InputSpec>> specs;
  for (const std::string& value : values) {
    if (const auto type = cutter.inputType(value)) {
      recorded.types[value] = *type;
      const auto& own = cutter.model().inputSpecs;
      if (const auto spec = std::ranges::find(own, value, &InputSpec::name); spec != own.end()) specs[value] = *spec;
    } else if (std::ranges::find(made, value) == made.end()) {
      made.push_back(value);
    }
  }
  if (samples != nullptr) recorded.samples.resize(samples->list.size());
  if (!made.empty()) {
    const Recorder recorder = TRY(recorderOf(cutter, plan, made, folder, options.stop));
    const auto inferred = specsOf(*recorder.model);
    for (std::size_t i = 0; i < made.size(); ++i) {
      recorded.types[made[i]] = recorder.model->graph->value(recorder.model->graph->outputs()[i]).type;
      specs[made[i]] = inferred[i];
      if (specs[made[i]]) specs[made[i]]->name = made[i];
    }
    if (samples != nullptr) recorded.samples = TRY(runOnSamples(recorder.model, *samples, options));
  }
  for (std::size_t i = 0; i < recorded.samples.size(); ++i)
    for (const std::string& value : values)
      if (const auto given = samples->list[i].inputs.find(value); given != samples->list[i].inputs.end())
        recorded.samples[i][value] = given->second;
  for (const std::string& value : values) {
    TensorType& type = recorded.types[value];
    if (type.container != Container::None) {
      recorded.unknown.push_back(value);
      continue;
    }
    for (const auto& sample : recorded.samples) {
      const Tensor& tensor = sample.at(value);
      widen(specs[value], value, tensor.dims());
      if (!type.shape.ranked) type.shape = Shape::of(std::vector<Dim>(tensor.dims().size()));
      type.dtype = tensor.type();
    }
    if (auto& spec = specs[value]) {
      spec->dtype = type.dtype;
      spec->source = "metadata";
      recorded.extents.push_back(*spec);
    }
  }
  return recorded;
}

std::vector<InputSpec> inputExtents(const RecordedValues& recorded, const NetworkPart& part) {
  std::vector<InputSpec> extents = recorded.extents;
  std::erase_if(extents,
                [&](const InputSpec& spec) { return std::ranges::find(part.inputs, spec.name) == part.inputs.end(); });
  return extents;
}

std::optional<Diagnostic> firstApart(const std::vector<TensorComparison>& outputs, std::string_view what,
                                     std::string_view help) {
  const auto apart = std::ranges::find(outputs, false, &TensorComparison::ok);
  if (apart == outputs.end()) return std::nullopt;
  const std::string how =
      apart->problem.empty() ? fmt::format("max|Δ| {:.3g} of rms", apart->maxOverRms) : apart->problem;
  return Diagnostic{
      .message = fmt::format("{}: {}", what, how), .where = {.value = apart->name}, .help = std::string(help)};
}

double worstOverRms(const std::vector<TensorComparison>& outputs) {
  double worst = 0;
  for (const TensorComparison& output : outputs) worst = std::max(worst, output.maxOverRms);
  return worst;
}

}  // namespace fusescope
