
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/shell_quoted.h"
#include "base/text.h"
#include "interchange/export_inputs.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/precision_config.h"
#include "interchange/recipes/registered_layers.h"
#include "interchange/source_network.h"
#include "interchange/trt_version_option.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

const ExporterOption kLayerNamesOption{.name = "layer-names",
                                       .title = "Layer names",
                                       .help = "A log of trtexec --verbose, for the exact names of its layers.",
                                       .argument = "VERBOSE_LOG",
                                       .isFile = true};

constexpr TrtVersion kFirstWithUnits{10, 0};  // sizes of pools are in MiB; earlier ones take no suffix
constexpr TrtVersion kFirstTrtexec{8, 4};     // the first trtexec with --layerPrecisions
constexpr std::string_view kUsePolygraphy =
    "Use --to polygraphy, which finds layers by their metadata; or give the log of a verbose build with --layer-names.";

/// Why trtexec's option cannot hold this name, or nothing. The list is split at every comma, quotes are taken as
/// marks, and a star is a wildcard; there is no escape.
std::string_view whyInexpressible(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.find(',') != std::string_view::npos) return "has a comma, at which trtexec splits its list";
  if (name.find('\'') != std::string_view::npos) return "has a quote, which trtexec takes as a mark";
  if (name.find('*') != std::string_view::npos) return "has a star, which trtexec takes as a wildcard";
  if (name.find('\n') != std::string_view::npos) return "has a line break";
  return {};
}

Diagnostic refused(const std::string& node, std::string message) {
  return {.message = std::move(message), .where = {.node = node}, .help = std::string(kUsePolygraphy)};
}

/// The names of the layers to name for one node.
Result<std::vector<std::string>> layersOf(const std::string& node, const LayersOfNodes* log,
                                          const std::set<std::string, std::less<>>& names) {
  std::vector<std::string> layers{node};
  if (log != nullptr) {
    const auto found = log->find(node);
    if (found == log->end()) {
      return Diagnostic{.message = "the log has no 'Registering layer' line for this node",
                        .where = {.node = node, .attribute = "--layer-names"},
                        .help = "Give the log of this model's build with trtexec --verbose, or use --to polygraphy."};
    }
    layers = found->second;
  } else if (const auto other = otherNode(names, node); !other.empty()) {
    return refused(node, fmt::format("trtexec may know a layer of node '{}' by this name: TensorRT's parser calls the "
                                     "further layers of a node by its name and a number",
                                     other));
  }
  for (const auto& layer : layers) {
    const auto why = whyInexpressible(layer);
    if (!why.empty())
      return refused(node, fmt::format("trtexec's options cannot contain the layer name '{}': it {}", layer, why));
  }
  return layers;
}

/// The optimisation profile: --minShapes, --optShapes and --maxShapes, of the inputs whose extents somebody said.
Result<std::vector<std::string>> profileWords(const Plan& plan) {
  std::vector<std::string> min, opt, max;
  for (const InputSpec& input : givenInputSpecs(plan)) {
    const auto why = whyInexpressible(input.name);
    if (!why.empty() && why.find("wildcard") == std::string_view::npos)
      return Diagnostic{
          .message = fmt::format("trtexec's options cannot contain the extents of this input: its name {}", why),
          .where = {.value = input.name},
          .help = "Use --to polygraphy, or give the input another name."};
    min.push_back(input.name + ":" + extentsBy(input.min, "x"));
    opt.push_back(input.name + ":" + extentsBy(input.opt, "x"));
    max.push_back(input.name + ":" + extentsBy(input.max, "x"));
  }
  if (min.empty()) return std::vector<std::string>();
  return std::vector{shellQuoted("--minShapes=" + joined(min, ",")), shellQuoted("--optShapes=" + joined(opt, ",")),
                     shellQuoted("--maxShapes=" + joined(max, ","))};
}

/// Writes a trtexec command line with --layerPrecisions and --layerOutputTypes. It uses exact names only, because
/// trtexec silently ignores wildcards and unknown names. Layer names come from the lines `Registering layer: X for ONNX
/// node: Y` of the log. Without a log, a name is refused if the option cannot express it, or if the parser's suffixes
/// could have given it to another node's layer.
Result<Exported> writeTrtexec(const Plan& plan, const ExportOptions& options) {
  TRY(refuseStronglyTyped(plan, "--to trtexec"));
  if (options.text(kTrtVersionOption.name).empty()) {
    return Diagnostic{.message = "the version of TensorRT must be known, because trtexec's options depend on it",
                      .where = {.attribute = "--trt-version"},
                      .help = "For example: --trt-version 10.3."};
  }
  const auto version = TRY(parseTrtVersion(options.text(kTrtVersionOption.name)));
  const auto config = TRY(precisionConfig(plan));
  TRY(checkTrtVersion(config, version, kFirstTrtexec, "--to trtexec"));

  std::set<std::string, std::less<>> names;
  for (const auto& origin : plan.model->origins) names.insert(origin.name);
  LayersOfNodes log;
  const std::string logFile = options.text(kLayerNamesOption.name);
  if (!logFile.empty()) {
    log = registeredLayers(TRY(readTextFile(logFile)));
    if (log.empty()) {
      return Diagnostic{.message = "the log has no line 'Registering layer: … for ONNX node: …'",
                        .where = {.attribute = "--layer-names"},
                        .help = "Give the output of trtexec --verbose, from when it parses the model."};
    }
  }
  std::vector<std::string> precisions, outputs;
  for (const auto& node : config.nodes) {
    for (const auto& layer : TRY(layersOf(node.node, logFile.empty() ? nullptr : &log, names))) {
      if (node.compute) precisions.push_back(fmt::format("{}:{}", layer, trtTypeName(*node.compute)));
      if (node.output) outputs.push_back(fmt::format("{}:{}", layer, trtTypeName(*node.output)));
    }
  }
  std::vector<std::string> words{"trtexec", shellQuoted("--onnx=" + TRY(networkForTools(plan, options.stop)))};
  for (std::string& word : TRY(profileWords(plan))) words.push_back(std::move(word));
  if (config.usesF16) words.push_back("--fp16");
  if (config.usesBF16) words.push_back("--bf16");
  if (const std::string workspace = workspaceMiB(plan); !workspace.empty())
    words.push_back("--memPoolSize=workspace:" + workspace + (version < kFirstWithUnits ? "" : "M"));
  if (!config.nodes.empty()) words.push_back(fmt::format("--precisionConstraints={}", name(config.strictness)));
  if (!precisions.empty()) words.push_back(shellQuoted("--layerPrecisions=" + joined(precisions, ",")));
  if (!outputs.empty()) words.push_back(shellQuoted("--layerOutputTypes=" + joined(outputs, ",")));
  std::vector<ExportNote> notes = tensorrtNotes(plan);
  for (ExportNote& note : notesOnAssumedInputs(plan)) notes.push_back(std::move(note));
  std::string text = fmt::format(
      "# For trtexec {}. With --verbose its log says 'Set layer X to precision Y' for each layer that was "
      "found.\n{}{}\n",
      version.text(), asComments(notes), joined(words, " \\\n  "));
  return Exported{std::move(text), std::move(notes)};
}

}  // namespace

extern const ExportRow kTrtexecRow{
    .readers = "trtexec 8.4 to 10.16",
    .contents = "a command line with `--layerPrecisions` and `--layerOutputTypes`",
    .exactness = "a request: weak typing may widen it; names that the syntax of the list would split are refused"};

extern const Exporter kTrtexecExporter{
    .name = "trtexec",
    .title = "Command line of trtexec",
    .extension = "sh",
    .summary = "a trtexec command line with layer precisions (TensorRT 8.4 to 10.16)",
    .write = writeTrtexec,
    .options = {&kTrtVersionOption, &kLayerNamesOption}};

}  // namespace fusescope
