#include "session/import_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/files.h"
#include "base/shell_quoted.h"
#include "base/text.h"
#include "compilers/tensorrt/engine_reader.h"
#include "compilers/tensorrt/log_agreement.h"
#include "compilers/torch/handed_program.h"
#include "compilers/torch/program_kernels.h"
#include "frontends/tensorrt/layer_network.h"
#include "frontends/tensorrt/logged_network.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Reads the file at `path` with `parse`. Errors name the file.
template <class Parse>
auto parsed(const std::filesystem::path& path, Parse parse) -> decltype(parse(std::string_view())) {
  const std::string text = TRY(readTextFile(path));
  auto result = parse(text);
  if (result.ok()) return result;
  Diagnostic error = result.error();
  error.where.file = path.string();
  return error;
}

Result<EngineFiles> readFiles(const EngineFilePaths& paths) {
  EngineFiles files{.layers = TRY(parsed(paths.layers, parseEngineLayers)), .names = {paths.layers.string()}};
  const auto read = [&](const std::filesystem::path& path, auto parse, auto& into) -> Status {
    if (path.empty()) return Done{};
    into = TRY(parsed(path, parse));
    files.names.push_back(path.string());
    return Done{};
  };
  TRY(read(paths.profile, parseEngineProfile, files.profile));
  TRY(read(paths.times, parseEngineTimes, files.times));
  TRY(read(paths.log, parseEngineLog, files.log));
  return files;
}

/// Removes the log if it belongs to the build of another engine, because it says nothing about this one.
void leaveOutLogOfAnother(EngineFiles& files, const Model& model) {
  auto another = logMismatch(files, model, files.names.back());
  if (!another) return;
  files.contradicted.push_back(*std::move(another));
  files.names.pop_back();  // the log is the file that was read last
  files.log.reset();
}

/// Returns the target of the version that the log names; otherwise that of the oldest version that writes such layers.
std::string targetOf(const EngineFiles& files) {
  const std::string version =
      files.log && !files.log->version.empty() ? files.log->version : files.layers.oldestVersion;
  const std::string major = version.substr(0, version.find('.'));
  // Layers of version 8.6 and later have the same form.
  const bool isOld = major == "8" && (version != "8.6" || files.log);
  return std::string("tensorrt-") + (isOld ? "8" : major == "11" ? "11" : "10");
}

/// Returns the float types besides f32 in a text such as "FP32+FP16+INT8". int8 needs ranges, or is in the network.
std::vector<DataType> precisionsIn(const std::string& words) {
  std::vector<DataType> types;
  for (const std::string& word : split(words, '+')) {
    const DataType type = listedType(word);
    if (isFloat(type) && type != DataType::F32) types.push_back(type);
  }
  return types;
}

/// Returns the types that, according to the log, were set for layers of TensorRT's network, as pins on their nodes.
Directives pinsIn(const EngineLog& log, const Graph& graph) {
  Directives pins;
  for (const EngineLog::TypeSet& set : log.typesSet) {
    std::string word = set.type;
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
    const auto node = log.nodeOfLayer.find(set.layer);
    const std::string& name = node == log.nodeOfLayer.end() ? set.layer : node->second;
    const DataType type = listedType(word);
    const bool isPinned = std::ranges::find(pins, name, &Directive::pattern) != pins.end();
    if (!isFloat(type) || isPinned || !graph.findNode(name)) continue;
    pins.push_back({.id = {}, .pattern = name, .type = type, .rule = {}, .note = "as the log of the build says"});
  }
  assignIds(pins);
  return pins;
}

/// Returns the extents of the engine's inputs that the network leaves open and the engine does not.
std::vector<InputOverride> extentsOf(const EngineLayers& engine, const Model& model,
                                     const std::vector<InputOverride>& given) {
  std::vector<InputOverride> extents = given;
  for (const InputSpec& spec : model.inputSpecs) {
    const ListedTensor* tensor = nullptr;
    for (const ListedLayer& layer : engine.layers)
      for (const ListedTensor& input : layer.inputs)
        if (tensor == nullptr && input.name == spec.name) tensor = &input;
    const bool isGiven = std::ranges::find(given, spec.name, &InputOverride::name) != given.end();
    if (tensor == nullptr || isGiven || spec.source == "file" || tensor->dims.size() != spec.opt.size()) continue;
    if (std::ranges::all_of(tensor->dims, [](std::int64_t extent) { return extent > 0; }))
      extents.push_back({.name = spec.name, .fixed = tensor->dims});
  }
  return extents;
}

Result<std::shared_ptr<const Model>> openNetwork(const EngineImport& request, const EngineFiles& files,
                                                 const StopToken& stop, const Progress& progress) {
  if (request.model.empty()) return openModel(request.files.layers, request.inputs, stop, progress);
  auto model = TRY(openModel(request.model, request.inputs, stop, progress));
  if (!request.atExtentsOfEngine) return model;
  const std::vector<InputOverride> extents = extentsOf(files.layers, *model, request.inputs);
  if (extents.size() == request.inputs.size()) return model;
  auto again = openModel(request.model, extents, stop, progress);
  // The network cannot be opened with the extents of the engine.
  return again.ok() || again.error().cancelled ? again : Result(std::move(model));
}

Result<Artifact> artifactOf(const std::shared_ptr<const Plan>& plan, const ReadBack& readBack) {
  Artifact artifact{.kind = ArtifactKind::Plan, .path = plan->model->path, .backend = "native"};
  artifact.made = TRY(readBackPlan(plan, readBack));
  artifact.plan = artifact.made->requested;
  artifact.files = identitiesOf(plan->model->files);
  return artifact;
}

/// Imports what TorchInductor made of an exported program; see importEngine().
Result<Artifact> importInductorBuild(const EngineImport& request, const StopToken& stop, const Progress& progress) {
  const std::filesystem::path& path = request.files.layers;
  for (const auto& [file, option] :
       {std::pair(request.files.profile, "--profile"), {request.files.times, "--times"}, {request.files.log, "--log"}})
    if (!file.empty())
      return Diagnostic{.message = "can only be read together with the layers of a TensorRT engine",
                        .where = {.file = file.string(), .attribute = option},
                        .help = fmt::format("{} describes kernels of TorchInductor.", path.string())};
  if (request.model.empty())
    return Diagnostic{.message = "describes kernels, but not the network from which they were made",
                      .where = {.file = path.string()},
                      .help = "Name the exported program as well: fusescope import-engine MODEL.pt2 --layers " +
                              shellQuoted(path.string())};
  const InductorBuild build = TRY(readInductorBuild(path));
  auto model = TRY(openModel(request.model, request.inputs, stop, progress));
  PlanOptions options = request.options;
  if (options.target == PlanOptions().target) options.target = torch_compiler::kTorch;
  options.support = supportOfBuilt(*model->graph);
  if (progress) progress("plan", model->path);
  const auto plan = TRY(makePlan(std::move(model), options, nullptr, stop));
  return artifactOf(plan, torch_compiler::kernelsInFile(*plan, build, path.string()));
}

}  // namespace

Result<Artifact> importEngine(const EngineImport& request, const StopToken& stop, const Progress& progress) {
  if (isInductorBuild(request.files.layers)) return importInductorBuild(request, stop, progress);
  if (progress) progress("read engine", request.files.layers.filename().string());
  EngineFiles files = TRY(readFiles(request.files));
  auto model = TRY(openNetwork(request, files, stop, progress));
  leaveOutLogOfAnother(files, *model);
  PlanOptions options = request.options;
  if (options.target == PlanOptions().target) options.target = targetOf(files);
  if (options.precisions.empty() && files.log) options.precisions = precisionsIn(files.log->precision);
  if (options.directives.empty() && files.log) options.directives = pinsIn(*files.log, *model->graph);
  options.support = supportOfBuilt(*model->graph);
  if (progress) progress("plan", model->path);
  const auto plan = TRY(makePlan(std::move(model), options, nullptr, stop));
  const CompilerInput network = TRY(namedNetwork(plan));
  ReadBack readBack = readEngine(network, files);
  adviseOnRegions(network, readBack);
  return artifactOf(plan, readBack);
}

Result<RebuiltNetwork> rebuildNetwork(const std::filesystem::path& log, const std::filesystem::path& path) {
  const auto network = TRY(parsed(log, [&](std::string_view text) -> Result<LoggedNetwork> {
    return networkOfLog(TRY(parseEngineLog(text)), log.filename().string());
  }));
  TRY(writeFileAtomically(path, TRY(onnxlib::modelBytes(network.file))));
  return RebuiltNetwork{
      .nodes = std::ssize(network.file.graph.nodes), .weights = network.weights, .unknown = network.unknown};
}

Run engineRun(const Artifact& artifact) {
  const ReadBackPlan& made = *artifact.made;
  const Placement& placement = *made.placement;
  Run run{.kind = RunKind::Plan, .state = RunState::Ready, .options = made.options, .started = timestamp()};
  run.options.support.reset();  // the plan contains this answer already
  run.machine = placement.device.empty() ? "a device that the files do not name" : placement.device;
  run.made = SharedOptional<Json>(toJson(made));
  if (placement.times.empty() && !placement.latencyMs) return run;
  RunTime time{.medianMs = placement.latencyMs, .samples = placement.runs.value_or(0)};
  if (!time.medianMs)
    time.unavailableReason = "The files contain only times of kernels, and their sum is not the time of a run.";
  time.remark = fmt::format("Read from files of the engine, not measured here: {}{}.",
                            placement.times.empty() ? std::string() : "times of kernels are " + placement.times + ", ",
                            "on " + run.machine);
  for (const FusedNode& fused : made.fusedNodes)
    if (const auto& ms = made.kernels[fused.id.index].ms)
      time.layers.push_back({.name = fused.name,
                             .identity = fused.identity.hex(),
                             .types = layerTypes(made, fused),
                             .medianMs = *ms,
                             .flops = fused.flops,
                             .bytes = fused.bytes});
  run.time = SharedOptional<RunTime>(std::move(time));
  return run;
}

bool isReadFromFiles(const Run& run) {
  return run.made && std::as_const(run.made)->contains("placement");
}

std::optional<EngineFilePaths> fileOfEngine(const std::filesystem::path& path) {
  if (isInductorBuild(path)) return EngineFilePaths{.layers = path, .profile = {}, .times = {}, .log = {}};
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kMostBytes) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  const int first = (file >> std::ws).peek();
  if (first == 0 || std::string_view("{[&L").find(static_cast<char>(first)) == std::string_view::npos)
    return std::nullopt;
  auto sorted = sortEngineFiles({path});
  return sorted.ok() ? std::optional(std::move(sorted).value()) : std::nullopt;
}

bool listsEngineLayers(const std::filesystem::path& path) {
  return isEngineLayersFile(path);
}

Result<EngineFilePaths> sortEngineFiles(const std::vector<std::filesystem::path>& files) {
  EngineFilePaths paths;
  const auto take = [](std::filesystem::path& into, const std::filesystem::path& path,
                       std::string_view what) -> Status {
    if (!into.empty())
      return Diagnostic{.message = fmt::format("this is {}, and so is {}: only one can be given", what, into.string()),
                        .where = {.file = path.string()}};
    into = path;
    return Done{};
  };
  for (const std::filesystem::path& path : files) {
    if (isInductorBuild(path)) {
      TRY(take(paths.layers, path, "a build of TorchInductor"));
      continue;
    }
    const std::string text = TRY(readTextFile(path));
    // A log may contain a list of layers and a profile as well; the file counts as a log if it describes a build.
    const auto log = parseEngineLog(text);
    const bool isBuild = log.ok() && (!log.value().nodes.empty() || !log.value().tactics.empty());
    if (isBuild) {
      TRY(take(paths.log, path, "the log of a build"));
    } else if (parseEngineTimes(text).ok()) {
      TRY(take(paths.times, path, "a list of times of runs"));
    } else if (parseEngineProfile(text).ok()) {
      TRY(take(paths.profile, path, "a profile"));
    } else if (auto layers = parseEngineLayers(text); layers.ok()) {
      TRY(take(paths.layers, path, "layer information"));
    } else {
      Diagnostic error = layers.error();
      error.where.file = path.string();
      return error;
    }
  }
  if (paths.layers.empty() && !paths.log.empty()) paths.layers = paths.log;  // a verbose log lists the layers as well
  return paths;
}

}  // namespace fusescope
