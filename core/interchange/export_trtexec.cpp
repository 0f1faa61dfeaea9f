#include "interchange/export_trtexec.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/shell_quoted.h"
#include "base/text.h"
#include "interchange/export_notes.h"
#include "interchange/precision_config.h"

namespace fusescope {
namespace {

constexpr TrtVersion kFirstWithUnits{10, 0};  // sizes of pools are in MiB; earlier ones take no suffix
constexpr TrtVersion kFirstTrtexec{8, 4};     // the first trtexec with --layerPrecisions
constexpr std::string_view kUsePolygraphy =
    "Use --to polygraphy, which finds layers by their metadata; or give the log of a verbose build with --layer-names.";

/// Layers of the network for each node of the file, by the parser's own account.
using LayersOfNodes = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Reads the lines `Registering layer: LAYER for ONNX node: NODE`.
LayersOfNodes registeredLayers(std::string_view log) {
  constexpr std::string_view kBegin = "Registering layer: ";
  constexpr std::string_view kMiddle = " for ONNX node: ";
  LayersOfNodes layers;
  for (auto line : split(log, '\n')) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const auto begin = line.find(kBegin);
    const auto middle = line.rfind(kMiddle);
    if (begin == std::string::npos || middle == std::string::npos || middle < begin + kBegin.size()) continue;
    const auto layer = line.substr(begin + kBegin.size(), middle - begin - kBegin.size());
    auto& known = layers[line.substr(middle + kMiddle.size())];
    if (std::ranges::find(known, layer) == known.end()) known.push_back(layer);
  }
  return layers;
}

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

/// `name` without one trailing "_<number>", or empty.
std::string_view withoutSuffix(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size() || name[end] != '_') return {};
  return name.substr(0, end);
}

/// The other node whose second, third, … layer may have been called `name`: the parser appends a counter to them.
std::string otherNode(const std::set<std::string, std::less<>>& names, std::string_view name) {
  for (auto base = withoutSuffix(name); !base.empty(); base = withoutSuffix(base)) {
    if (names.contains(base)) return std::string(base);
  }
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
      return Diagnostic{.message = "the log registers no layer for this node",
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
      return refused(node, fmt::format("trtexec cannot be told the layer name '{}': it {}", layer, why));
  }
  return layers;
}

}  // namespace

Result<Exported> writeTrtexec(const Plan& plan, const ExportOptions& options) {
  TRY(refuseStronglyTyped(plan, "--to trtexec"));
  if (options.trtVersion.empty()) {
    return Diagnostic{.message = "the version of TensorRT must be known: its options differ",
                      .where = {.attribute = "--trt-version"},
                      .help = "For example: --trt-version 10.3."};
  }
  const auto version = TRY(parseTrtVersion(options.trtVersion));
  const auto config = TRY(precisionConfig(plan));
  TRY(checkTrtVersion(config, version, kFirstTrtexec, "--to trtexec"));

  std::set<std::string, std::less<>> names;
  for (const auto& origin : plan.model->origins) names.insert(origin.name);
  LayersOfNodes log;
  if (options.layerNames) {
    log = registeredLayers(*options.layerNames);
    if (log.empty()) {
      return Diagnostic{.message = "the log has no line 'Registering layer: … for ONNX node: …'",
                        .where = {.attribute = "--layer-names"},
                        .help = "It must come from trtexec --verbose while it parses the model."};
    }
  }
  std::vector<std::string> precisions, outputs;
  for (const auto& node : config.nodes) {
    for (const auto& layer : TRY(layersOf(node.node, options.layerNames ? &log : nullptr, names))) {
      if (node.compute) precisions.push_back(fmt::format("{}:{}", layer, trtTypeName(*node.compute)));
      if (node.output) outputs.push_back(fmt::format("{}:{}", layer, trtTypeName(*node.output)));
    }
  }
  std::vector<std::string> words{"trtexec", shellQuoted("--onnx=" + plan.model->path)};
  if (config.usesF16) words.push_back("--fp16");
  if (config.usesBF16) words.push_back("--bf16");
  if (const std::string workspace = workspaceMiB(plan); !workspace.empty())
    words.push_back("--memPoolSize=workspace:" + workspace + (version < kFirstWithUnits ? "" : "M"));
  words.push_back(fmt::format("--precisionConstraints={}", name(config.strictness)));
  if (!precisions.empty()) words.push_back(shellQuoted("--layerPrecisions=" + joined(precisions, ",")));
  if (!outputs.empty()) words.push_back(shellQuoted("--layerOutputTypes=" + joined(outputs, ",")));
  std::vector<ExportNote> notes = tensorrtNotes(plan);
  std::string text = fmt::format(
      "# For trtexec {}. With --verbose its log says 'Set layer X to precision Y' for each layer that was "
      "found.\n{}{}\n",
      version.text(), asComments(notes), joined(words, " \\\n  "));
  return Exported{std::move(text), std::move(notes)};
}

}  // namespace fusescope
