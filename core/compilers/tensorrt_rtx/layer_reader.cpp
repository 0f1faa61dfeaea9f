#include "compilers/tensorrt_rtx/layer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sort_distinct.h"
#include "compilers/probed/handed_names.h"
#include "compilers/tensorrt_rtx/silent_nodes.h"
#include "planning/kinds.h"

namespace fusescope {
namespace {

constexpr const char* kTitle = "TensorRT for RTX";

bool isProduct(const ListedLayer& layer) {
  return layer.type == "gemm" || layer.type == "correlation" || layer.type == "deconv";
}

bool isCalculatedIn(DataType type) {
  return isFloat(type) || type == DataType::I8 || type == DataType::I4;
}

/// Of products what they multiply; of others the one type of all floats that they read and write.
DataType computeOf(const ListedLayer& layer) {
  if (isProduct(layer) && !layer.inputs.empty()) {
    const DataType type = listedType(layer.inputs.front().type);
    return isCalculatedIn(type) ? type : DataType::Undefined;
  }
  std::set<DataType> floats;
  for (const auto* tensors : {&layer.inputs, &layer.outputs})
    for (const ListedTensor& tensor : *tensors)
      if (const DataType type = listedType(tensor.type); isFloat(type)) floats.insert(type);
  return floats.size() == 1 ? *floats.begin() : DataType::Undefined;
}

/// "Linear" of "(Linear) Row major linear format", with the order of the axes where it is another; else as printed.
std::string formatOf(const ListedTensor& tensor) {
  const std::size_t end = tensor.format.find(')');
  if (!tensor.format.starts_with('(') || end == std::string::npos) return tensor.format;
  const std::string word = tensor.format.substr(1, end - 1);
  return word == "Arbitrary" || word == "Transposed" ? fmt::format("{} {}", word, toText(tensor.strideOrder)) : word;
}

/// "0" of "n3_myl0_12": the number of the region that a kernel was made in; empty: in none.
std::string_view regionNumber(std::string_view layer) {
  constexpr std::string_view kMark = "_myl";
  const std::size_t start = layer.rfind(kMark);
  if (start == std::string_view::npos) return {};
  const std::string_view number = layer.substr(start + kMark.size());
  return number.substr(0, number.find('_'));
}

class LayerReader {
 public:
  LayerReader(const HandedNetwork& network, const BuildLog& log) : m_network(network), m_log(log) {}

  ReadBack run() {
    countNamed();
    for (std::size_t i = 0; i < m_log.layers.size(); ++i) addKernel(m_log.layers[i], m_named[i]);
    tellSilentNodes(m_network.plan->graph(), m_log.layers, m_told);
    addRegions();
    addConversions();
    addDecisions();
    return std::move(m_told);
  }

 private:
  using FileNodes = std::vector<std::string_view>;

  /// The nodes of the file that each layer names, and in how many layers each is.
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
    ReadBackKernel& kernel = m_told.kernels.emplace_back();
    kernel.name = kernelName(m_network, layer.name);
    if (const int before = m_count[kernel.name]++; before > 0) kernel.name += fmt::format(" #{}", before + 1);
    kernel.compute = computeOf(layer);
    std::map<NodeId, Certainty> nodes;
    for (const std::string_view node : named) {
      const std::vector<NodeId>& held = m_network.nodes.find(node)->second;
      // What a node of the file became may be spread over the kernels that name it.
      const bool isCertain = held.size() == 1 || m_layersOf[node] == 1;
      for (const NodeId id : held) {
        const auto [known, isNew] = nodes.emplace(id, isCertain ? Certainty::Named : Certainty::Guessed);
        if (isCertain) known->second = Certainty::Named;
      }
    }
    kernel.nodes.assign(nodes.begin(), nodes.end());
    kernel.kind = kindOf(layer, kernel);
    for (const ListedTensor& tensor : layer.inputs) kernel.inputs.push_back(valueOf(tensor));
    for (const ListedTensor& tensor : layer.outputs) kernel.outputs.push_back(valueOf(tensor));
  }

  std::string kindOf(const ListedLayer& layer, const ReadBackKernel& kernel) const {
    const Graph& graph = m_network.plan->graph();
    if (layer.type == "correlation" || layer.type == "deconv") return std::string(kinds::kConv);
    if (layer.type == "maxpool" || layer.type == "avgpool") return std::string(kinds::kPool);
    if (layer.type != "gemm") return layer.type;
    const bool isGemm =
        std::ranges::any_of(kernel.nodes, [&](const auto& held) { return graph.node(held.first).is("Gemm"); });
    return std::string(isGemm ? kinds::kGemm : kinds::kMatMul);
  }

  /// A tensor that has the name of a value and as many elements is that value; other names say nothing.
  KernelValue valueOf(const ListedTensor& tensor) const {
    KernelValue made{.value = {}, .type = listedType(tensor.type), .format = formatOf(tensor)};
    const auto known = m_network.values.find(tensor.name);
    if (known == m_network.values.end()) return made;
    const auto extents = m_network.plan->graph().value(known->second).type.shape.fixed();
    const bool isOpen = std::ranges::any_of(tensor.dims, [](std::int64_t extent) { return extent < 0; });
    if (!extents || isOpen || elementCount(*extents) == elementCount(tensor.dims)) made.value = known->second;
    return made;
  }

  /// Kernels say by a number in which region they were made. It is the one whose nodes are all that these kernels name.
  void addRegions() {
    std::map<std::string_view, std::set<std::string_view>> namedIn;
    for (std::size_t i = 0; i < m_log.layers.size(); ++i)
      namedIn[regionNumber(m_log.layers[i].name)].insert(m_named[i].begin(), m_named[i].end());
    std::map<std::string_view, std::string> names;
    for (const auto& [number, named] : namedIn)
      if (!number.empty()) names[number] = regionOf(named);
    for (std::size_t i = 0; i < m_log.layers.size(); ++i)
      if (const auto name = names.find(regionNumber(m_log.layers[i].name)); name != names.end())
        m_told.kernels[i].region = name->second;
  }

  /// Empty: none or several have all these nodes.
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

  /// A kernel without nodes that reads one tensor converts it, if what it writes has another type or format.
  void addConversions() {
    for (std::size_t i = 0; i < m_log.layers.size(); ++i) {
      const ReadBackKernel& kernel = m_told.kernels[i];
      if (!kernel.nodes.empty() || m_log.layers[i].inputs.size() != 1 || m_log.layers[i].outputs.size() != 1) continue;
      const ListedTensor& from = m_log.layers[i].inputs.front();
      const ListedTensor& to = m_log.layers[i].outputs.front();
      const bool isCast = from.type != to.type;
      if (!isCast && formatOf(from) == formatOf(to)) continue;
      const ValueId value =
          kernel.inputs.front().value.valid() ? kernel.inputs.front().value : kernel.outputs.front().value;
      m_told.conversions.push_back({.value = value,
                                    .from = isCast ? toText(listedType(from.type)) : formatOf(from),
                                    .to = isCast ? toText(listedType(to.type)) : formatOf(to),
                                    .isCast = isCast,
                                    .kernel = kernel.name});
    }
  }

  void addDecisions() {
    const Graph& graph = m_network.plan->graph();
    const Cause by = m_network.plan->options.compiler;
    if (m_log.activationBytes && m_log.weightBytes && m_log.scratchBytes)
      m_told.decisions.push_back(decide("build.compiler_memory", {}, by,
                                        {{"compiler", kTitle},
                                         {"activations", *m_log.activationBytes},
                                         {"weights", *m_log.weightBytes},
                                         {"scratch", *m_log.scratchBytes}}));
    for (const std::string& warning : m_log.warnings) {
      std::vector<Subject> subjects;
      for (const Spoken& spoken : spokenOf(m_network, warning))
        subjects.push_back(spoken.node.valid() ? Subject::node(graph.node(spoken.node).name)
                                               : Subject::value(graph.value(spoken.value).name));
      m_told.decisions.push_back(decide("build.compiler_warns", std::move(subjects), by,
                                        {{"compiler", kTitle}, {"message", inNamesOfNetwork(m_network, warning)}}));
    }
  }

  const HandedNetwork& m_network;
  const BuildLog& m_log;
  ReadBack m_told;
  std::vector<FileNodes> m_named;  ///< by layer
  std::map<std::string_view, int> m_layersOf;
  std::map<std::string, int> m_count;
};

}  // namespace

ReadBack readLayers(const HandedNetwork& network, const BuildLog& log) {
  return LayerReader(network, log).run();
}

std::string kernelName(const HandedNetwork& network, std::string_view layer) {
  return inNamesOfNetwork(network, layer);
}

std::vector<std::string_view> fileNodesOf(const HandedNetwork& network, std::string_view nameInMetadata) {
  const auto find = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto known = network.nodes.find(name);
    if (known == network.nodes.end()) return std::nullopt;
    return known->first;
  };
  if (const auto whole = find(nameInMetadata)) return {*whole};
  // A node in a body: "n3 | true_graph_0 (then_branch) | n2 (If)". The last that is a node of the main graph holds it.
  constexpr std::string_view kInside = " | ";
  std::string_view rest = nameInMetadata;
  for (std::size_t at = rest.rfind(kInside); at != std::string_view::npos; at = rest.rfind(kInside)) {
    std::string_view holder = rest.substr(at + kInside.size());
    rest = rest.substr(0, at);
    if (const std::size_t op = holder.rfind(" ("); op != std::string_view::npos) holder = holder.substr(0, op);
    if (const auto known = find(holder)) return {*known};
  }
  if (const auto known = rest == nameInMetadata ? std::nullopt : find(rest)) return {*known};
  return {};
}

}  // namespace fusescope
