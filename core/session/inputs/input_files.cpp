#include "session/inputs/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "engine/carried_examples.h"
#include "frontends/torch/pt2_importer.h"
#include "frontends/value_files.h"
#include "interchange/codes.h"
#include "interchange/npz.h"
#include "interchange/polygraphy_inputs.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

using Values = std::map<std::string, Tensor>;

constexpr std::string_view kTestDataPrefix = "input_";

Diagnostic noSuchInput(const Plan& plan, const fs::path& file, const std::string& name) {
  std::vector<std::string> names;
  for (const InputSpec& spec : plan.inputSpecs) names.push_back(spec.name);
  return {.message = "the model has no input of this name",
          .where = {.file = file.string(), .value = name},
          .help = fmt::format("Its inputs are {}.", joined(names))};
}

const InputSpec* specOf(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.inputSpecs, name, &InputSpec::name);
  return found == plan.inputSpecs.end() ? nullptr : &*found;
}

/// Returns whether `name` is a weight of the network whose numbers differ from `tensor`.
bool isOtherWeight(const Plan& plan, const std::string& name, const Tensor& tensor) {
  const auto value = plan.graph().findValue(name);
  if (!value) return false;
  const auto& constant = plan.graph().value(*value).constant;
  return constant != nullptr && constant->hasData() && !constant->identical(tensor);
}

/// Returns the arrays that are inputs of the network.
Result<Values> inputsOf(const Plan& plan, const fs::path& path, const NpzArrays& arrays) {
  Values values;
  for (const auto& [name, tensor] : inputsFrom(arrays)) {
    if (const InputSpec* spec = specOf(plan, name)) {
      values.emplace(name, fromCodes(tensor, spec->dtype));
    } else if (arrays.contains("in:" + name)) {
      return noSuchInput(plan, path, name);
    } else if (isOtherWeight(plan, name, tensor)) {
      return Diagnostic{
          .message = "is a weight of the network, but has other numbers than in the model",
          .where = {.file = path.string(), .value = name},
          .help = "Weights are compiled as they are in the model: change them there, or leave them out here."};
    }
  }
  if (values.empty() && !plan.inputSpecs.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : arrays) names.push_back(name);
    Diagnostic error = noSuchInput(plan, path, joined(names));
    error.message = "none of these arrays is an input of the model";
    return error;
  }
  return values;
}

Result<std::pair<std::string, Tensor>> readNpy(const Plan& plan, const fs::path& path) {
  std::string name = path.stem().string();
  if (plan.inputSpecs.size() == 1) name = plan.inputSpecs.front().name;
  const InputSpec* spec = specOf(plan, name);
  if (spec == nullptr) return noSuchInput(plan, path, name);
  const auto file = TRY(MappedFile::open(path));
  auto array = parseNpy(file->bytes(), path.string(), name);
  TRY(file->checkIntact());
  return std::pair(name, fromCodes(TRY(std::move(array)), spec->dtype));
}

/// Returns the number I in "input_I.pb".
std::optional<std::size_t> testDataIndex(const fs::path& path) {
  const std::string stem = path.stem().string();
  if (!stem.starts_with(kTestDataPrefix)) return {};
  std::size_t index = 0;
  const char* end = stem.data() + stem.size();
  const auto read = std::from_chars(stem.data() + kTestDataPrefix.size(), end, index);
  return read.ec == std::errc() && read.ptr == end ? std::optional(index) : std::nullopt;
}

Result<std::pair<std::string, Tensor>> readTestData(const Plan& plan, const fs::path& path) {
  const auto index = testDataIndex(path);
  if (!index || *index >= plan.inputSpecs.size()) {
    return Diagnostic{.message = "the name of this file does not say to which input it belongs",
                      .where = {.file = path.string()},
                      .help = fmt::format("input_0.pb to input_{}.pb are the model's {} inputs.",
                                          plan.inputSpecs.size() - 1, plan.inputSpecs.size())};
  }
  const Graph& graph = plan.graph();
  return std::pair(plan.inputSpecs[*index].name, TRY(readValueFile(path, graph.value(graph.inputs()[*index]).type)));
}

Result<std::vector<fs::path>> entriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  if (error) return Diagnostic{.message = error.message(), .where = {.file = folder.string()}};
  std::ranges::sort(entries);
  return entries;
}

bool isArchive(const fs::path& path) {
  return path.extension() == ".npz";
}

/// Returns whether the file is a network or an engine, which may contain example inputs. For an exported program of
/// PyTorch, these are the inputs with which it was exported.
bool isNetworkFile(const fs::path& path) {
  return path.extension() == ".pt2" || path.extension() == ".onnx" || path.extension() == ".fse";
}

/// Returns whether `path` is the file from which the network of `plan` was read.
bool isOwnFile(const Plan& plan, const fs::path& path) {
  const MappedFiles& files = unquantized(plan.model)->files;
  const auto there = identityOf(path);
  return !files.empty() && there.ok() && there.value().device == files.front()->identity().device &&
         there.value().inode == files.front()->identity().inode;
}

Diagnostic carriesNone(const fs::path& path) {
  return {.message = "carries no example inputs",
          .where = {.file = path.string()},
          .help = "fusescope inputs MODEL --example F.npz -o NEW writes them into a file."};
}

Result<Sample> sampleOf(const Plan& plan, const fs::path& path, const NpzArrays& arrays) {
  auto inputs = TRY(inputsOf(plan, path, arrays));
  return Sample{path.stem().string(), std::move(inputs)};
}

/// Returns the examples in the network or engine at `path`, which is not the plan's own file.
Result<Sample> exampleOf(const Plan& plan, const fs::path& path) {
  if (path.extension() == ".pt2") {  // says why the file contains none
    const auto examples = calledAsInputs(*unquantized(plan.model), TRY(readExampleInputs(path)));
    return sampleOf(plan, path, NpzArrays(examples.begin(), examples.end()));
  }
  const auto examples = TRY(carriedExamples(path));
  if (examples.empty()) return carriesNone(path);
  return sampleOf(plan, path, examples);
}

/// Returns whether the file is one of Polygraphy's inputs.
bool isList(const fs::path& path) {
  return path.extension() == ".json";
}

/// Returns whether a file of a folder contains one input; other .pb files in the folder are expected outputs.
bool isInputOfFolder(const fs::path& path) {
  return path.extension() == ".npy" || (path.extension() == ".pb" && testDataIndex(path));
}

Result<std::vector<Sample>> fromSingleInputs(const Plan& plan, const fs::path& folder,
                                             const std::vector<fs::path>& files) {
  Sample sample{.name = (folder / "").parent_path().filename().string(), .inputs = {}};
  for (const fs::path& file : files) {
    if (!isInputOfFolder(file)) continue;
    auto [name, value] = TRY(readSingleInput(plan, file));
    if (!sample.inputs.emplace(name, std::move(value)).second)
      return Diagnostic{.message = "another file of this folder contains the same input",
                        .where = {.file = file.string(), .value = name}};
  }
  return std::vector{std::move(sample)};
}

Result<std::vector<Sample>> fromFolder(const Plan& plan, const fs::path& folder) {
  const std::vector<fs::path> entries = TRY(entriesOf(folder));
  const bool singles = std::ranges::any_of(entries, isInputOfFolder);
  const bool archives = std::ranges::any_of(entries, isArchive), lists = std::ranges::any_of(entries, isList);
  if (singles && archives)
    return Diagnostic{.message = "this folder holds both archives (.npz) and single inputs (.npy, .pb)",
                      .where = {.file = folder.string()},
                      .help = "Put the archives into a separate folder."};
  if (singles) return fromSingleInputs(plan, folder, entries);
  std::vector<Sample> samples;
  for (const fs::path& entry : entries) {
    std::error_code unreadable;
    const bool holdsSamples =
        archives ? isArchive(entry)
        : lists  ? isList(entry)
                 : fs::is_directory(entry, unreadable) && std::ranges::any_of(TRY(entriesOf(entry)), isInputOfFolder);
    if (!holdsSamples) continue;
    for (Sample& sample : TRY(readSamples(plan, entry))) samples.push_back(std::move(sample));
  }
  if (!samples.empty()) return samples;
  return Diagnostic{.message = "there are no inputs in this folder",
                    .where = {.file = folder.string()},
                    .help =
                        "Inputs are files called input_0.pb, input_1.pb, … or NAME.npy, .npz archives of one "
                        "sample each, Polygraphy's .json files, or folders of such inputs."};
}

Result<std::vector<Sample>> fromPolygraphy(const Plan& plan, const fs::path& path) {
  std::vector<Sample> samples;
  for (const NpzArrays& arrays : TRY(readPolygraphyInputs(path))) {
    auto values = inputsOf(plan, path, arrays);
    if (!values.ok()) {
      Diagnostic error = std::move(values).error();
      error.where.attribute = fmt::format("[{}]", samples.size());
      return error;
    }
    samples.push_back({fmt::format("{}_{}", path.stem().string(), samples.size()), std::move(values).value()});
  }
  return samples;
}

}  // namespace

bool isSingleInputFile(const fs::path& path) {
  return path.extension() == ".npy" || path.extension() == ".pb";
}

Result<std::pair<std::string, Tensor>> readSingleInput(const Plan& plan, const fs::path& path) {
  return path.extension() == ".npy" ? readNpy(plan, path) : readTestData(plan, path);
}

Result<std::vector<Sample>> readSamples(const Plan& plan, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return fromFolder(plan, path);
  if (isList(path)) return fromPolygraphy(plan, path);
  if (isOwnFile(plan, path)) {
    auto own = TRY(carriedSample(plan));
    if (!own) return carriesNone(path);
    return std::vector{*std::move(own)};
  }
  if (isNetworkFile(path)) return std::vector{TRY(exampleOf(plan, path))};
  return std::vector{TRY(sampleOf(plan, path, TRY(readNpz(path))))};
}

Result<std::optional<Sample>> carriedSample(const Plan& plan) {
  const Model& model = *unquantized(plan.model);
  const auto examples = TRY(carriedExamples(model));
  if (examples.empty()) return std::optional<Sample>();
  return std::optional(TRY(sampleOf(plan, model.files.front()->identity().path, examples)));
}

bool isInputFile(const std::filesystem::path& path) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) return true;
  return isArchive(path) || isSingleInputFile(path);
}

}  // namespace fusescope
