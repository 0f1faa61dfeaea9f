#include "compilers/tensorrt/engine_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "compilers/tensorrt/kernel_names.h"
#include "compilers/tensorrt/layer_facts.h"
#include "compilers/tensorrt/layer_names.h"
#include "compilers/tensorrt/pin_hindrances.h"
#include "compilers/tensorrt/place_layers.h"
#include "compilers/tensorrt/region_advice.h"
#include "compilers/tensorrt/silent_nodes.h"
#include "frontends/tensorrt/layer_network.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr const char* kTensorrt = "tensorrt";

/// Places layers in the network that was drawn from them, which has a node for each layer that writes something.
LayerPlaces placesInOwnNetwork(const CompilerInput& network, const std::vector<ListedLayer>& layers) {
  LayerPlaces made;
  made.places.resize(layers.size());
  std::vector<bool> containsNodes(layers.size());
  const Graph& graph = network.plan->graph();
  for (const NodeId node : graph.order())
    for (const OriginId origin : graph.node(node).origins)
      if (origin.index < layers.size()) {
        made.places[origin.index].nodes.emplace(node, Certainty::Named);
        containsNodes[origin.index] = true;
      }
  for (LayerPlace& place : made.places)
    place.role = place.nodes.empty() ? LayerPlace::Role::Conversion : LayerPlace::Role::Kernel;
  made.edges = layerEdges(layers, network, containsNodes);
  return made;
}

class EngineReader {
 public:
  EngineReader(const CompilerInput& network, const EngineFiles& files)
      : m_network(network), m_graph(network.plan->graph()), m_files(files), m_layers(files.layers.layers) {}

  ReadBack run() {
    const EngineLog* log = m_files.log ? &*m_files.log : nullptr;
    m_places = isOfEngineLayers(*m_network.plan->model) ? placesInOwnNetwork(m_network, m_layers)
                                                        : placeLayers(m_network, m_layers, log);
    for (std::size_t i = 0; i < m_layers.size(); ++i) addKernel(i);
    for (const NodeId node : m_places.merged) m_readBack.fates[node] = Fate::Merged;
    if (!isOfEngineLayers(*m_network.plan->model)) bindSilentNodes(m_graph, m_layers, m_readBack);
    addConversions();
    addTimes();
    addPlacement();
    append(m_readBack.decisions, m_files.contradicted);
    if (log != nullptr) addLog(*log);
    identify();
    // A layer that is only called a move by its type may contain a quantiser, or a node that moves elements.
    if (!isOfEngineLayers(*m_network.plan->model))
      for (ReadBackKernel& kernel : m_readBack.kernels) kernel.converts = kernel.converts && kernel.nodes.empty();
    return std::move(m_readBack);
  }

 private:
  void addKernel(std::size_t i) {
    const ListedLayer& layer = m_layers[i];
    ReadBackKernel& kernel = m_readBack.kernels.emplace_back();
    kernel.name = m_names.next(layer.name);
    kernel.compute = computeOf(layer);
    const auto& nodes = m_places.places[i].nodes;
    kernel.nodes.assign(nodes.begin(), nodes.end());
    kernel.kind = kindOf(layer, kernel.nodes, m_graph);
    const auto& edges = m_places.edges;
    for (std::size_t k = 0; k < layer.inputs.size(); ++k)
      kernel.inputs.push_back(moved(layer.inputs[k], edges.inputs[i][k].value));
    for (std::size_t k = 0; k < layer.outputs.size(); ++k)
      kernel.outputs.push_back(moved(layer.outputs[k], edges.outputs[i][k]));
    kernel.region = regionOf(layer);
    // A network that was drawn from layers has nodes for conversions, too.
    kernel.converts = m_places.places[i].role == LayerPlace::Role::Conversion ||
                      (isOfEngineLayers(*m_network.plan->model) && (onlyMoves(layer) || isInsertedLayer(layer.name)));
  }

  static KernelValue moved(const ListedTensor& tensor, ValueId value) {
    return {.value = value, .type = listedType(tensor.type), .format = formatOf(tensor)};
  }

  /// Kernels have the number of the region in which they were made; a layer may also be a whole region.
  static std::string regionOf(const ListedLayer& layer) {
    if (layer.name.starts_with("{ForeignNode[")) return layer.name;
    const std::string_view number = regionNumber(layer.name);
    const bool isNumber =
        !number.empty() && std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c); });
    return isNumber ? fmt::format("Myelin region {}", number) : std::string();
  }

  void addConversions() {
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
      const ReadBackKernel& kernel = m_readBack.kernels[i];
      if (!kernel.converts || m_layers[i].inputs.size() != 1 || m_layers[i].outputs.size() != 1) continue;
      auto conversion =
          conversionBy(m_layers[i], kernel.inputs.front().value, kernel.outputs.front().value, kernel.name);
      if (conversion) m_readBack.conversions.push_back(std::move(*conversion));
    }
  }

  /// Assigns times by names: the first row with a name belongs to the first layer with this name, because a profile
  /// lists layers in the order in which they run.
  void addTimes() {
    if (!m_files.profile) return;
    std::map<std::string_view, std::vector<std::size_t>> layersOf;
    for (std::size_t i = m_layers.size(); i-- > 0;) layersOf[m_layers[i].name].push_back(i);
    std::int64_t unmatched = 0;
    for (const ProfiledLayer& row : m_files.profile->layers) {
      const auto layers = layersOf.find(row.name);
      if (layers == layersOf.end() || layers->second.empty()) {
        ++unmatched;
        continue;
      }
      m_readBack.kernels[layers->second.back()].ms = row.ms();
      layers->second.pop_back();
    }
    if (unmatched == 0) return;
    // Layers with some names exist in every build of a network, so that the times of another build must not be used.
    const auto rows = std::ssize(m_files.profile->layers);
    const bool isOfAnother = 2 * unmatched > rows;
    if (isOfAnother)
      for (ReadBackKernel& kernel : m_readBack.kernels) kernel.ms.reset();
    decideThat(
        "build.profile_of_another", {},
        {{"unmatched", unmatched}, {"rows", rows}, {"left_out", isOfAnother ? "all of its times" : "their times"}});
  }

  void addPlacement() {
    Placement placement{.layers = std::ssize(m_layers), .files = m_files.names};
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
      const LayerPlace& place = m_places.places[i];
      const bool containsNodes = !m_readBack.kernels[i].nodes.empty();  // also silent nodes
      placement.placed += containsNodes ? 1 : 0;
      if (containsNodes) continue;
      if (place.role == LayerPlace::Role::Conversion)
        ++placement.conversions;
      else
        placement.unplaced.push_back({.layer = m_readBack.kernels[i].name, .why = place.why, .nearest = place.nearest});
    }
    const bool anyTime =
        std::ranges::any_of(m_readBack.kernels, [](const ReadBackKernel& kernel) { return kernel.ms.has_value(); });
    if (m_files.profile && anyTime) placement.times = m_files.profile->counts();
    if (m_files.log) placement.device = m_files.log->device;
    if (m_files.times) {
      placement.latencyMs = m_files.times->latencyMs ? m_files.times->latencyMs : m_files.times->computeMs;
      placement.runs = m_files.times->runs;
    }
    m_readBack.placement = std::move(placement);
  }

  void decideThat(std::string_view code, std::vector<Subject> subjects, DecisionArguments arguments) {
    m_readBack.decisions.push_back(decide(code, std::move(subjects), kTensorrt, std::move(arguments)));
  }

  std::vector<Subject> subjectsOf(std::string_view fileNode) const {
    std::vector<Subject> subjects;
    if (const auto nodes = m_network.nodes.find(fileNode); nodes != m_network.nodes.end())
      for (const NodeId node : nodes->second) subjects.push_back(Subject::node(m_graph.node(node).name));
    return subjects;
  }
  std::vector<Subject> subjectsOfLayer(std::string_view layer) const {
    std::vector<Subject> subjects;
    for (std::size_t i = 0; i < m_layers.size(); ++i)
      if (m_layers[i].name == layer)
        for (const auto& [node, certainty] : m_readBack.kernels[i].nodes)
          subjects.push_back(Subject::node(m_graph.node(node).name));
    return subjects;
  }

  void addLog(const EngineLog& log) {
    m_readBack.hindrances = pinHindrances(m_network, log);
    addLayersOfNodes(log);
    for (const EngineLog::Tactics& tactics : log.tactics)
      if (const auto subjects = subjectsOfLayer(tactics.layer); !subjects.empty() && tactics.fastestMs)
        decideThat("build.tactics_timed", subjects,
                   {{"layer", tactics.layer},
                    {"timed", tactics.timed},
                    {"skipped", tactics.skipped},
                    {"ms", *tactics.fastestMs},
                    {"fastest", tactics.fastest}});
    for (const EngineLog::TypeSet& set : log.typesSet) {
      const auto node = log.nodeOfLayer.find(set.layer);
      decideThat("build.type_set", subjectsOf(node == log.nodeOfLayer.end() ? set.layer : node->second),
                 {{"layer", set.layer}, {"type", set.type}});
    }
    for (const std::string& layer : log.typesIgnored)
      decideThat("build.types_ignored", ignoredSubjects(layer), {{"layer", layer}});
    if (log.activationBytes && log.weightBytes && log.scratchBytes)
      decideThat("build.compiler_memory", {},
                 {{"compiler", "TensorRT"},
                  {"activations", *log.activationBytes},
                  {"weights", *log.weightBytes},
                  {"scratch", *log.scratchBytes}});
    for (const std::string& warning : log.warnings)
      decideThat("build.compiler_warns", {}, {{"compiler", "TensorRT"}, {"message", warning}});
  }

  std::vector<Subject> ignoredSubjects(std::string_view layers) const {
    std::vector<Subject> subjects;
    for (const std::string& name : nodesInMessage(layers))
      for (Subject& subject : subjectsOf(name)) subjects.push_back(std::move(subject));
    return subjects;
  }

  void addLayersOfNodes(const EngineLog& log) {
    std::map<std::string, std::vector<std::string>> layersOf;
    for (const auto& [layer, node] : log.nodeOfLayer) layersOf[node].push_back(layer);
    for (const auto& [node, layers] : layersOf)
      if (layers.size() > 1 || layers.front() != node)
        if (const auto subjects = subjectsOf(node); !subjects.empty())
          decideThat("build.layers_of_node", subjects, {{"count", std::ssize(layers)}, {"layers", joined(layers)}});
  }

  void identify() {
    m_readBack.compiler.name = kTensorrt;
    if (m_files.log && !m_files.log->version.empty())
      m_readBack.compiler.version = m_files.log->version;
    else if (!m_files.layers.oldestVersion.empty())
      m_readBack.compiler.version = m_files.layers.oldestVersion + " or later";
    if (m_files.log && !m_files.log->precision.empty())
      m_readBack.compiler.options.emplace("precision", m_files.log->precision);
    if (m_files.log && !m_files.log->command.empty())
      m_readBack.compiler.options.emplace("command", m_files.log->command);
    if (m_files.log && !m_files.log->driver.empty()) m_readBack.compiler.options.emplace("driver", m_files.log->driver);
  }

  const CompilerInput& m_network;
  const Graph& m_graph;
  const EngineFiles& m_files;
  const std::vector<ListedLayer>& m_layers;
  LayerPlaces m_places;
  ReadBack m_readBack;
  KernelNames m_names;
};

}  // namespace

Result<CompilerInput> namedNetwork(std::shared_ptr<const Plan> plan) {
  if (isOfEngineLayers(*plan->model)) return graphAsNamed(std::move(plan));
  const std::filesystem::path path = plan->model->networkPath();
  return networkAsNamed(std::move(plan), path);
}

std::shared_ptr<const CompilerSupport> supportOfBuilt(const Graph& graph) {
  auto support = std::make_shared<CompilerSupport>();
  for (const NodeId node : graph.order())
    support->nodes.push_back({.node = graph.node(node).name,
                              .isAccepted = true,
                              .code = {},
                              .message = {},
                              .foundBy = SupportSource::Build});
  return support;
}

void adviseOnRegions(const CompilerInput& network, ReadBack& readBack) {
  if (!isOfEngineLayers(*network.plan->model))
    append(readBack.decisions, regionAdvice(*network.plan, readBack.kernels));
}

ReadBack readEngine(const CompilerInput& network, const EngineFiles& files) {
  return EngineReader(network, files).run();
}

}  // namespace fusescope
