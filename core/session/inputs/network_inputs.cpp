#include "session/inputs/network_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "engine/carried_examples.h"
#include "engine/engine_file.h"
#include "frontends/carried_inputs.h"
#include "frontends/example_inputs.h"
#include "frontends/exporter_ranges.h"
#include "frontends/torch/pt2_importer.h"
#include "frontends/torch/pt2_writer.h"
#include "interchange/recipes/recipe_inputs.h"
#include "ir/extent_ranges.h"
#include "onnxlib/edited_network.h"
#include "onnxlib/metadata_entry.h"
#include "session/exported_program_report.h"
#include "session/inputs/input_files.h"
#include "session/inputs/load_samples.h"
#include "session/inputs/samples.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/options_json.h"
#include "session/session_file.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;
using Examples = std::map<std::string, Tensor>;

/// Returns the network of a model, a plan, an engine or a session, as it was opened for it.
Result<std::shared_ptr<const Model>> modelIn(const fs::path& path, const StopToken& stop, const Progress& progress) {
  std::error_code error;
  if (fs::is_regular_file(path, error) && isSessionFile(path)) {
    std::vector<std::string> warnings;
    return unquantized(TRY(openSession(path, {}, {}, warnings, stop, progress)).plan->model);
  }
  if (TRY(artifactKind(path)) != ArtifactKind::Plan) return openModel(path, {}, stop, progress);
  return unquantized(TRY(openArtifact(path, {}, {}, {}, stop, progress)).plan->model);
}

Diagnostic wrongSetting(std::string message, const std::string& text, std::string help = {}) {
  return {.message = fmt::format("'{}': {}", text, message),
          .where = {.attribute = "--set"},
          .help = help.empty() ? "For example: --set x=1..8..32,3,224,224." : std::move(help)};
}

/// Reads one entry of `--set`. If it gives no usual extent for a range, that of the network is used as far as it is
/// within the range.
Result<InputOverride> settingOf(const std::string& text, const std::vector<InputSpec>& specs) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return wrongSetting("is not of the form NAME=EXTENTS", text);
  InputOverride input{.name = text.substr(0, equals)};
  std::string extents = text.substr(equals + 1);
  if (const std::size_t colon = extents.rfind(':'); colon != std::string::npos) {
    input.dtype = dataTypeFromName(extents.substr(colon + 1));
    if (!input.dtype) return wrongSetting(fmt::format("'{}' is not a type", extents.substr(colon + 1)), text);
    extents.resize(colon);
    if (extents.empty()) return input;
  }
  const auto ranges = parseExtentRanges(extents);
  if (!ranges.ok()) return wrongSetting(ranges.error().message, text, ranges.error().help);
  const auto spec = std::ranges::find(specs, input.name, &InputSpec::name);
  const bool isKnown = spec != specs.end() && spec->opt.size() == ranges.value().size();
  input.min.emplace();
  input.opt.emplace();
  input.max.emplace();
  for (std::size_t axis = 0; axis < ranges.value().size(); ++axis) {
    const ExtentRange& range = ranges.value()[axis];
    const std::int64_t usual = isKnown ? std::clamp(spec->opt[axis], range.min, range.max) : range.min;
    input.min->push_back(range.min);
    input.opt->push_back(range.opt.value_or(usual));
    input.max->push_back(range.max);
  }
  return input;
}

bool isRecipe(const fs::path& path) {
  constexpr std::string_view kEndings[] = {".sh", ".py", ".txt", ".log", ".cmd", ".bash"};
  return std::ranges::find(kEndings, path.extension().string()) != std::end(kEndings);
}

/// Returns what another file says about the inputs that `specs` contains.
Result<std::vector<InputOverride>> saidBy(const fs::path& path, const std::vector<InputSpec>& specs,
                                          const StopToken& stop, const Progress& progress) {
  std::vector<InputOverride> said;
  const auto add = [&](const std::string& name, const Dims& min, const Dims& opt, const Dims& max) {
    if (std::ranges::find(specs, name, &InputSpec::name) == specs.end()) return;
    const auto orNothing = [](const Dims& dims) { return dims.empty() ? std::nullopt : std::optional(dims); };
    said.push_back({.name = name, .min = orNothing(min), .opt = orNothing(opt), .max = orNothing(max)});
  };
  if (isRecipe(path)) {
    for (const RecipeInput& input : TRY(readRecipeInputs(path))) add(input.name, input.min, input.opt, input.max);
  } else {
    const auto model = TRY(modelIn(path, stop, progress));
    for (const InputSpec& spec : model->inputSpecs)
      if (spec.source != "assumed" && !spec.opt.empty()) add(spec.name, spec.min, spec.opt, spec.max);
  }
  if (!said.empty()) return said;
  return Diagnostic{.message = "contains nothing about the inputs of this network", .where = {.file = path.string()}};
}

/// Returns the metadata that the file of a model has under kInputSpecsKey; an object without inputs if there are none.
std::string carriedTextOf(const Model& model) {
  if (model.files.empty()) return "{}";
  if (!isOfExportedProgram(model))
    return std::string(onnxlib::metadataEntry(model.files.front()->bytes(), kInputSpecsKey).value_or("{}"));
  const auto program = readExportedProgram(model.path);
  return program.ok() && !program.value().inputSpecs.empty() ? program.value().inputSpecs : "{}";
}

/// Returns, for each input, who gave the information in the file's metadata.
std::map<std::string, std::string> giversIn(const Model& model) {
  std::map<std::string, std::string> givers;
  const auto carried = carriedInputsFromText(carriedTextOf(model));
  if (!carried.ok()) return givers;
  for (const CarriedInput& input : carried.value().inputs) givers[input.spec.name] = input.givenBy;
  return givers;
}

Status checkNotNewer(const Model& model) {
  const auto carried = carriedInputsFromText(carriedTextOf(model));
  if (!carried.ok() || !carried.value().isNewer()) return Done{};
  return Diagnostic{.message = fmt::format("its metadata contain information about inputs that only a newer Fusescope "
                                           "reads (version {}), and that would be lost",
                                           carried.value().version),
                    .where = {.file = model.path, .attribute = kInputSpecsKey},
                    .help = "Write the file with a Fusescope that reads it."};
}

Status writeOnnxInputs(const Model& model, const std::vector<CarriedInput>& inputs, const std::string& examples,
                       const fs::path& to) {
  onnxlib::NetworkEdits edits;
  if (!inputs.empty()) {
    edits.metadata[kInputSpecsKey] = carriedInputsText(inputs);
    const auto file = TRY(MappedFile::open(model.networkPath()));
    if (const auto known = onnxlib::graphMetadataEntry(file->bytes(), kExporterRangesKey))
      if (const std::string ranges = exporterRangesWith(*known, inputs); !ranges.empty())
        edits.graphMetadata[kExporterRangesKey] = ranges;
  }
  if (!examples.empty()) edits.metadata[kExampleInputsKey] = examples;
  const auto bytes = TRY(onnxlib::editNetwork(model.networkPath(), edits, onnxlib::weightsNameOf(to)));
  return onnxlib::writeNetwork(to, bytes);
}

/// Returns the program's name for an input of `model`, which may be the network that torch made of the program. The
/// inputs of both have the same order.
std::string nameInProgram(const Model& model, const Model& program, const std::string& input) {
  const auto spec = std::ranges::find(model.inputSpecs, input, &InputSpec::name);
  const auto place = static_cast<std::size_t>(spec - model.inputSpecs.begin());
  return place < program.inputSpecs.size() ? program.inputSpecs[place].name : input;
}

/// Writes the program under another name first and reads it again, so that a file that contradicts the program is never
/// kept.
Status writeProgramInputs(const Model& model, std::vector<CarriedInput> inputs, const std::optional<Examples>& given,
                          const fs::path& to, const StopToken& stop) {
  TRY(onnxlib::checkNotWrittenOver(to, model.files));
  const Model program = TRY(importProgramAsItIs(model.path, {}, stop));
  for (CarriedInput& input : inputs) input.spec.name = nameInProgram(model, program, input.spec.name);
  Examples called;
  if (given)
    for (const auto& [input, array] : *given) called.emplace(nameInProgram(model, program, input), array);
  const std::string examples = given ? TRY(exampleInputsText(called)) : std::string();
  const Pt2Additions notes{.inputSpecs = inputs.empty() ? std::string() : carriedInputsText(inputs),
                           .exampleInputs = examples};
  return writeFileAtomically(to, [&](const fs::path& temporary) -> Status {
    TRY(writeExportedProgram(model.path, temporary, notes));
    const Model read = TRY(importProgramAsItIs(temporary, {}, stop));
    for (const CarriedInput& input : inputs) {
      const auto spec = std::ranges::find(read.inputSpecs, input.spec.name, &InputSpec::name);
      const bool isKept = spec != read.inputSpecs.end() && spec->min == input.spec.min && spec->opt == input.spec.opt &&
                          spec->max == input.spec.max;
      if (isKept) continue;
      return Diagnostic{.message = fmt::format("the program was not exported for {}", extentRangesText(input.spec)),
                        .where = {.file = model.path, .value = input.spec.name},
                        .help = "Export it again with such extents: torch.export.export(…, dynamic_shapes=…)."};
    }
    return Done{};
  });
}

}  // namespace

NetworkInputs networkInputs(std::shared_ptr<const Model> model) {
  NetworkInputs all{.model = std::move(model)};
  const auto givers = giversIn(*all.model);
  const std::vector<ValueId>& values = all.model->graph->inputs();
  for (std::size_t i = 0; i < values.size() && i < all.model->inputSpecs.size(); ++i) {
    const TensorType& type =
        i < all.model->declaredInputs.size() ? all.model->declaredInputs[i] : all.model->graph->value(values[i]).type;
    NetworkInput input{.spec = all.model->inputSpecs[i], .type = type};
    if (const auto giver = givers.find(input.spec.name); giver != givers.end() && input.spec.source == kFromMetadata)
      input.givenBy = giver->second;
    all.inputs.push_back(std::move(input));
  }
  auto examples = carriedExamples(*all.model);
  if (examples.ok())
    all.examples = std::move(examples).value();
  else
    all.whyNoExamples = examples.error().text();
  return all;
}

Result<NetworkInputs> networkInputs(const fs::path& path, const InputEdits& edits, const StopToken& stop,
                                    const Progress& progress) {
  auto model = TRY(modelIn(path, stop, progress));
  std::vector<InputOverride> overrides;
  if (!edits.from.empty()) overrides = TRY(saidBy(edits.from, model->inputSpecs, stop, progress));
  for (const std::string& text : edits.set) {
    InputOverride setting = TRY(settingOf(text, model->inputSpecs));
    std::erase_if(overrides, [&](const InputOverride& known) { return known.name == setting.name; });
    overrides.push_back(std::move(setting));
  }
  if (overrides.empty()) return networkInputs(std::move(model));
  if (isSessionFile(path) || TRY(artifactKind(path)) != ArtifactKind::Model)
    return Diagnostic{
        .message = "other inputs can only be given to a network; this file was made for the inputs that it has",
        .where = {.file = path.string()},
        .help = "Give the network, and this file with --from."};
  return networkInputs(TRY(openModel(path, overrides, stop, progress)));
}

Result<std::optional<Examples>> givenExamples(const NetworkInputs& inputs, const InputEdits& edits,
                                              const StopToken& stop) {
  if (edits.examples.empty()) return std::optional<Examples>();
  const auto plan = TRY(makePlan(inputs.model, {}, nullptr, stop));
  const Samples samples = TRY(loadSamples(*plan, {.paths = edits.examples}));
  if (samples.list.size() > 1)
    return Diagnostic{
        .message = fmt::format("these are {} samples, but a file can contain only one", samples.list.size()),
        .where = {.attribute = "--example"},
        .help = "Give one file, with an array for each input."};
  return std::optional(samples.first());
}

Status writeInputs(const NetworkInputs& inputs, const std::optional<std::map<std::string, Tensor>>& examples,
                   const fs::path& to, const StopToken& stop) {
  const Model& model = *inputs.model;
  if (!model.files.empty() && isEngine(model.files.front()->bytes()))
    return Diagnostic{.message = "an engine is made for the inputs that it has, and cannot be written again",
                      .where = {.file = model.files.front()->identity().path},
                      .help = "Give the network, and the engine with --from."};
  const bool isProgram = isOfExportedProgram(model) && !(to.extension() == ".onnx" && !model.network.empty());
  if ((!isProgram && model.format != "onnx") || model.files.empty())
    return Diagnostic{.message = "inputs can only be written into ONNX networks and into exported programs of PyTorch",
                      .where = {.file = model.path}};
  const std::vector<CarriedInput> carried = carriedInputsOf(model);
  if (carried.empty() && !examples)
    return Diagnostic{.message = "nothing is known about the inputs that could be written",
                      .where = {.file = model.path},
                      .help = "Give it with --set x=1..8..32,3,224,224, --from FILE, or --example F.npz."};
  TRY(checkCurrent(model.files));
  TRY(checkNotNewer(model));
  if (isProgram) return writeProgramInputs(model, carried, examples, to, stop);
  return writeOnnxInputs(model, carried, examples ? TRY(exampleInputsText(*examples)) : std::string(), to);
}

Json toJson(const NetworkInputs& inputs, const std::string& written) {
  Json list = Json::array(), examples = Json::array(), findings = Json::array();
  for (const NetworkInput& input : inputs.inputs) {
    Json dims;
    if (input.type.shape.ranked) dims = Json::array();
    for (const Dim& dim : input.type.shape.dims)
      dims.push_back(dim.known() ? Json(dim.size) : dim.symbol.empty() ? Json(nullptr) : Json(dim.symbol));
    list.push_back({{"name", input.spec.name},
                    {"type", name(input.spec.dtype)},
                    {"dims", std::move(dims)},
                    {"min", input.spec.min},
                    {"opt", input.spec.opt},
                    {"max", input.spec.max},
                    {"source", input.spec.source},
                    {"given_by", input.givenBy.empty() ? Json(nullptr) : Json(input.givenBy)}});
  }
  for (const auto& [input, tensor] : inputs.examples)
    examples.push_back({{"name", input}, {"type", name(tensor.type())}, {"dims", tensor.dims()}});
  for (const Decision& decision : inputs.model->decisions) {
    constexpr std::string_view kOfFile[] = {"import.input_specs_ignored", "import.input_specs_newer",
                                            "import.extent_without_bound", "import.example_inputs_refused"};
    const bool isOfFile = std::ranges::find(kOfFile, decision.code) != std::end(kOfFile);
    if (decision.kind != DecisionKind::Input && !isOfFile) continue;
    findings.push_back({{"code", decision.code},
                        {"subject", decision.subjects.empty() ? Json(nullptr) : Json(decision.subjects.front().text())},
                        {"message", message(decision)}});
  }
  return {{"format", "fusescope.inputs"},
          {"version", 1},
          {"model", inputs.model->path},
          {"kind", inputs.model->format},
          {"inputs", std::move(list)},
          {"examples", std::move(examples)},
          {"why_no_examples", inputs.whyNoExamples.empty() ? Json(nullptr) : Json(inputs.whyNoExamples)},
          {"findings", std::move(findings)},
          {"written", written.empty() ? Json(nullptr) : Json(written)}};
}

}  // namespace fusescope
