#include "compilers/tensorrt_rtx/layer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sort_distinct.h"
#include "compilers/probed/handed_names.h"
#include "compilers/tensorrt/kernel_names.h"
#include "compilers/tensorrt/layer_facts.h"
#include "compilers/tensorrt/named_nodes.h"
#include "compilers/tensorrt/silent_nodes.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr const char* kTitle = "TensorRT for RTX";

class LayerReader {
 public:
  LayerReader(const CompilerInput& network, const BuildLog& log) : m_network(network), m_log(log) {}

  ReadBack run() {
    countNamed();
    for (std::size_t i = 0; i < m_log.layers.size(); ++i) addKernel(m_log.layers[i], m_named[i]);
    bindSilentNodes(m_network.plan->graph(), m_log.layers, m_readBack);
    addRegions();
    addConversions();
    addDecisions();
    return std::move(m_readBack);
  }

 private:
  using FileNodes = std::vector<std::string_view>;

  /// Collects the nodes of the file that each layer names, and counts the layers of each node.
  void countNamed() {
    for (const ListedLayer& layer : m_log.layers) {
      FileNodes& named = m_named.emplace_back();
      for (const std::string& name : namesInMetadata(layer.metadata)) {
        const FileNodes nodes = fileNodesOf(m_network, name);
        named.insert(named.end(), nodes.begin(), nodes.end());
      }
      sortDistinct(named);
      for (const std::string_view node : named) ++m_layersOf[node];
    }
  }

  void addKernel(const ListedLayer& layer, const FileNodes& named) {
    ReadBackKernel& kernel = m_readBack.kernels.emplace_back();
    kernel.name = m_names.next(kernelName(m_network, layer.name));
    kernel.compute = computeOf(layer);
    std::map<NodeId, Certainty> nodes;
    for (const std::string_view node : named) {
      const std::vector<NodeId>& held = m_network.nodes.find(node)->second;
      // The parts that became of a node of the file may be in several kernels that name it.
      const bool isCertain = held.size() == 1 || m_layersOf[node] == 1;
      for (const NodeId id : held) {
        const auto [known, isNew] = nodes.emplace(id, isCertain ? Certainty::Named : Certainty::Guessed);
        if (isCertain) known->second = Certainty::Named;
      }
    }
    kernel.nodes.assign(nodes.begin(), nodes.end());
    kernel.kind = kindOf(layer, kernel.nodes, m_network.plan->graph());
    for (const ListedTensor& tensor : layer.inputs) kernel.inputs.push_back(valueOf(tensor));
    for (const ListedTensor& tensor : layer.outputs) kernel.outputs.push_back(valueOf(tensor));
  }

  /// Returns the value that has the tensor's name if it has equally many elements. Other names say nothing.
  KernelValue valueOf(const ListedTensor& tensor) const {
    KernelValue made{.value = {}, .type = listedType(tensor.type), .format = formatOf(tensor)};
    const auto known = m_network.values.find(tensor.name);
    if (known == m_network.values.end()) return made;
    const auto extents = m_network.plan->graph().value(known->second).type.shape.fixed();
    const bool isOpen = std::ranges::any_of(tensor.dims, [](std::int64_t extent) { return extent < 0; });
    if (!extents || isOpen || elementCount(*extents) == elementCount(tensor.dims)) made.value = known->second;
    return made;
  }

  /// Kernels have the number of the region in which they were made. The region is the one that contains exactly the
  /// nodes that these kernels name.
  void addRegions() {
    std::map<std::string_view, std::set<std::string_view>> namedIn;
    for (std::size_t i = 0; i < m_log.layers.size(); ++i)
      namedIn[regionNumber(m_log.layers[i].name)].insert(m_named[i].begin(), m_named[i].end());
    std::map<std::string_view, std::string> names;
    for (const auto& [number, named] : namedIn)
      if (!number.empty()) names[number] = regionOf(named);
    for (std::size_t i = 0; i < m_log.layers.size(); ++i)
      if (const auto name = names.find(regionNumber(m_log.layers[i].name)); name != names.end())
        m_readBack.kernels[i].region = name->second;
  }

  /// Returns an empty text if none or several regions contain all these nodes.
  std::string regionOf(const std::set<std::string_view>& named) const {
    std::vector<const BuildLog::Region*> fitting;
    for (const BuildLog::Region& region : m_log.regions) {
      std::set<std::string_view> nodes;
      for (const std::string& name : region.nodes) {
        const FileNodes held = fileNodesOf(m_network, name);
        nodes.insert(held.begin(), held.end());
      }
      if (std::ranges::includes(nodes, named)) fitting.push_back(&region);
    }
    return fitting.size() == 1 ? inNamesOfNetwork(m_network, fitting.front()->name) : std::string();
  }

  /// A kernel without nodes that reads one tensor is a conversion, if its output has another type or format.
  void addConversions() {
    for (std::size_t i = 0; i < m_log.layers.size(); ++i) {
      const ReadBackKernel& kernel = m_readBack.kernels[i];
      if (!kernel.nodes.empty() || m_log.layers[i].inputs.size() != 1 || m_log.layers[i].outputs.size() != 1) continue;
      auto conversion =
          conversionBy(m_log.layers[i], kernel.inputs.front().value, kernel.outputs.front().value, kernel.name);
      if (conversion) m_readBack.conversions.push_back(std::move(*conversion));
    }
  }

  void addDecisions() {
    const Graph& graph = m_network.plan->graph();
    const Cause by = m_network.plan->options.compiler;
    if (m_log.activationBytes && m_log.weightBytes && m_log.scratchBytes)
      m_readBack.decisions.push_back(decide("build.compiler_memory", {}, by,
                                            {{"compiler", kTitle},
                                             {"activations", *m_log.activationBytes},
                                             {"weights", *m_log.weightBytes},
                                             {"scratch", *m_log.scratchBytes}}));
    for (const std::string& warning : m_log.warnings) {
      std::vector<Subject> subjects;
      for (const Mention& mention : mentionsIn(m_network, warning))
        subjects.push_back(mention.node.valid() ? Subject::node(graph.node(mention.node).name)
                                                : Subject::value(graph.value(mention.value).name));
      m_readBack.decisions.push_back(decide("build.compiler_warns", std::move(subjects), by,
                                            {{"compiler", kTitle}, {"message", inNamesOfNetwork(m_network, warning)}}));
    }
  }

  const CompilerInput& m_network;
  const BuildLog& m_log;
  ReadBack m_readBack;
  std::vector<FileNodes> m_named;  ///< by layer
  std::map<std::string_view, int> m_layersOf;
  KernelNames m_names;
};

}  // namespace

ReadBack readLayers(const CompilerInput& network, const BuildLog& log) {
  return LayerReader(network, log).run();
}

std::string kernelName(const CompilerInput& network, std::string_view layer) {
  return inNamesOfNetwork(network, layer);
}

}  // namespace fusescope
