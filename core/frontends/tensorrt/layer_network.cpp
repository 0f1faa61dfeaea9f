#include "frontends/tensorrt/layer_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/mapped_file.h"
#include "frontends/onnx/content_hash.h"
#include "frontends/onnx/input_specs.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

TensorType typeOf(const ListedTensor& tensor) {
  TensorType type{.dtype = listedType(tensor.type), .shape = Shape::of(std::vector<Dim>())};
  for (const std::int64_t extent : tensor.dims) type.shape.dims.push_back(extent < 0 ? Dim() : Dim(extent));
  return type;
}

class LayerNetworkBuilder {
 public:
  explicit LayerNetworkBuilder(const EngineLayers& engine) : m_engine(engine) {}

  Result<Model> run() {
    Model model;
    for (const ListedLayer& layer : m_engine.layers)
      for (const ListedTensor& tensor : layer.outputs) m_written.insert(tensor.name);
    for (const ListedLayer& layer : m_engine.layers) add(layer, model);
    addOutputs();
    model.graph = TRY(m_editor.publish());
    model.format = kEngineLayersFormat;
    model.producer = "TensorRT";
    model.fileNodes = static_cast<std::int64_t>(model.origins.size());
    model.weightless = true;
    model.decisions.push_back(decide("import.network_of_layers", {}, "import",
                                     {{"layers", model.fileNodes}, {"drawn", model.graph->nodeCount()}}));
    model.inputSpecs = specsOf(*model.graph, {}, {}, model.decisions);
    model.contentHash = contentHash(*model.graph);
    return model;
  }

 private:
  void add(const ListedLayer& layer, Model& model) {
    const OriginId origin(model.origins.size());
    const std::string op = layer.type.empty() ? "Layer" : layer.type;
    model.origins.push_back({.name = layer.name, .op = op, .domain = std::string(kEngineLayersDomain)});
    if (layer.outputs.empty()) return;  // it synchronises, or prepares something
    Node node{.id = {}, .op = op, .domain = std::string(kEngineLayersDomain), .name = layer.name, .origins = {origin}};
    for (const ListedTensor& tensor : layer.inputs) read(tensor, node.inputs);
    std::vector<ValueId> made;
    for (const ListedTensor& tensor : layer.outputs) made.push_back(m_editor.addValue(tensor.name, typeOf(tensor)));
    node.outputs = made;
    if (!layer.tactic.empty()) node.attributes.emplace("tactic", layer.tactic);
    if (!layer.parameter.empty()) node.attributes.emplace("parameter", layer.parameter);
    if (const auto said = nodesSaidBy(layer); !said.empty()) node.attributes.emplace(std::string(kNodesSaid), said);
    m_editor.addNode(std::move(node));
    for (std::size_t i = 0; i < made.size(); ++i) wrote(layer.outputs[i].name, made[i]);
  }

  /// Reads what was written last under the name, by several layers if each writes a part. A tensor that no layer writes
  /// is a constant if the engine does not list it as an input. A tensor that is written only later, as in a loop, is an
  /// input.
  void read(const ListedTensor& tensor, std::vector<ValueId>& inputs) {
    if (const auto known = m_values.find(tensor.name); known != m_values.end()) {
      inputs.insert(inputs.end(), known->second.begin(), known->second.end());
      m_wasRead.insert(tensor.name);
      return;
    }
    if (isConstant(tensor.name)) return;
    const ValueId input = m_editor.addInput(tensor.name, typeOf(tensor));
    m_values[tensor.name] = {input};
    m_wasRead.insert(tensor.name);
    inputs.push_back(input);
  }

  bool isConstant(const std::string& name) const {
    if (m_engine.tensors.empty() || m_written.contains(name)) return false;
    return std::ranges::find(m_engine.tensors, name, &EngineTensor::name) == m_engine.tensors.end();
  }

  void wrote(const std::string& name, ValueId value) {
    if (m_wasRead.erase(name) > 0) m_values.erase(name);
    m_values[name].push_back(value);
  }

  /// Adds the outputs that the engine lists, and tensors that no layer reads.
  void addOutputs() {
    const Graph& graph = m_editor.current();
    std::set<ValueId> used;
    for (std::size_t i = 0; i < graph.nodeIdLimit(); ++i)
      used.insert(graph.node(NodeId(i)).inputs.begin(), graph.node(NodeId(i)).inputs.end());
    std::vector<ValueId> outputs;
    for (std::size_t i = 0; i < graph.nodeIdLimit(); ++i)
      for (const ValueId value : graph.node(NodeId(i)).outputs) {
        const std::string& name = graph.value(value).name;
        const bool isListed = std::ranges::find(m_engine.tensors, name, &EngineTensor::name) != m_engine.tensors.end();
        if (isListed || !used.contains(value)) outputs.push_back(value);
      }
    for (const ValueId value : outputs) m_editor.addOutput(value);
  }

  const EngineLayers& m_engine;
  GraphEditor m_editor;
  std::set<std::string, std::less<>> m_written, m_wasRead;
  std::map<std::string, std::vector<ValueId>, std::less<>> m_values;  ///< what a name means at this point of the list
};

}  // namespace

bool isOfEngineLayers(const Model& model) {
  return model.format == kEngineLayersFormat;
}

Result<Model> layerNetwork(const EngineLayers& engine) {
  const bool hasTensors =
      std::ranges::any_of(engine.layers, [](const ListedLayer& layer) { return !layer.outputs.empty(); });
  if (!hasTensors)
    return Diagnostic{
        .message = "the file contains only names of layers and no tensors, so no network can be drawn from it",
        .help =
            "Give the ONNX file as well, or build the engine with --profilingVerbosity=detailed: an engine that was "
            "built without this option reports only names."};
  return LayerNetworkBuilder(engine).run();
}

Result<Model> importEngineLayers(const std::filesystem::path& path) {
  const auto located = [&](Diagnostic error) {
    if (error.where.file.empty()) error.where.file = path.string();
    return error;
  };
  const auto file = TRY(MappedFile::open(path));
  const auto engine = parseEngineLayers({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
  TRY(checkIntact({file}));
  if (!engine.ok()) return located(engine.error());
  auto model = layerNetwork(engine.value());
  if (!model.ok()) return located(model.error());
  Model imported = std::move(model).value();
  imported.path = path.string();
  imported.files = {file};
  return imported;
}

}  // namespace fusescope
