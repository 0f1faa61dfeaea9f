#include "compilers/probed/compiler_input.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "base/files.h"
#include "compilers/probed/handed_digest.h"
#include "compilers/probed/handed_weights.h"
#include "frontends/example_inputs.h"
#include "frontends/importers.h"
#include "frontends/input_spec_metadata.h"
#include "frontends/onnx_writer.h"
#include "interchange/quantized_network.h"
#include "interchange/rewritten_nodes.h"
#include "interchange/source_network.h"
#include "interchange/typed_network/make_typed_network.h"
#include "interchange/typed_network/node_roles.h"
#include "onnxlib/edited_network.h"
#include "passes/pipelines.h"

namespace fusescope {
namespace {

using onnxlib::FileModel;
using onnxlib::FileNode;
using NodesByPlace = std::vector<std::vector<NodeId>>;

/// A file with the network of a plan, in which values and nodes have the names that the plan uses.
struct Named {
  std::filesystem::path path;
  FileModel file;
  std::shared_ptr<const Plan> plan;  ///< a plan of this file's model, which determines the types to be written
  NodesByPlace nodes;  ///< nodes of the plan that is handed over, by their position in the file's main graph
};

NodesByPlace nodesByOrigin(const Plan& plan, std::size_t places) {
  NodesByPlace nodes(places);
  for (const NodeId id : plan.graph().order())
    for (const OriginId origin : plan.graph().node(id).origins)
      if (origin.index < places) nodes[origin.index].push_back(id);
  return nodes;
}

/// Returns the nodes of the plan for each node of a file that has more nodes than the plan's model was made from. They
/// are found by name; nodes that were added are nodes of the plan themselves.
NodesByPlace nodesByName(const Plan& plan, const FileModel& file) {
  std::map<std::string_view, std::vector<NodeId>> byOrigin;
  for (const NodeId id : plan.graph().order())
    for (const OriginId origin : plan.graph().node(id).origins)
      byOrigin[plan.model->origins[origin.index].name].push_back(id);
  NodesByPlace nodes;
  for (const std::string& name : uniqueNodeNames(file.graph)) {
    const auto known = byOrigin.find(name);
    const auto node = plan.graph().findNode(name);
    nodes.push_back(known != byOrigin.end() ? known->second : node ? std::vector{*node} : std::vector<NodeId>());
  }
  return nodes;
}

/// Returns whether the model of a plan is the whole content of a file, and not a part that was cut out of it.
bool isOfFile(const Model& model) {
  return !model.files.empty() && model.contentHash != Hash128();
}

/// Maps the values that the nodes of a file calculate to the names that they get when the file is numbered.
class ValueNames {
 public:
  ValueNames(const Named& source, CompilerInput& handed) : m_source(source), m_handed(handed) {}

  void run(const std::map<std::string, std::string, std::less<>>& numbers) {
    addSlots();
    for (const auto& [name, number] : numbers)
      if (const auto value = valueOf(name)) m_handed.values.emplace(number, *value);
    addPassedOn();
  }

 private:
  std::optional<ValueId> valueOf(const std::string& name) const { return m_handed.plan->graph().findValue(name); }

  /// A value that a node of the source reads or calculates is the same value in the handed file, whatever its name is
  /// there.
  void addSlots() {
    const auto& nodes = m_source.file.graph.nodes;
    for (const FileNode& node : m_handed.file.graph.nodes) {
      const auto place = placeOf(node);
      if (!place) continue;
      addAll(nodes[*place].outputs, node.outputs);
      if (nodes[*place].op == node.op) addAll(nodes[*place].inputs, node.inputs);
    }
  }

  void addAll(const std::vector<std::string>& were, const std::vector<std::string>& are) {
    for (std::size_t i = 0; i < std::min(were.size(), are.size()); ++i)
      if (const auto value = are[i].empty() ? std::nullopt : valueOf(were[i])) m_handed.values.emplace(are[i], *value);
  }

  /// Returns the position of the node in the source; nothing if the node was added.
  std::optional<std::size_t> placeOf(const FileNode& node) const {
    std::size_t number = 0;
    std::from_chars(node.name.data() + 1, node.name.data() + node.name.size(), number);
    return number < m_source.file.graph.nodes.size() ? std::optional(number) : std::nullopt;
  }

  /// Continues through Casts that were added and through nodes that normalisation removed because they change nothing:
  /// their operand and their result are the same value of the plan.
  void addPassedOn() {
    std::vector<const FileNode*> passing;
    for (const FileNode& node : m_handed.file.graph.nodes) {
      const auto place = placeOf(node);
      const bool isCast = node.op == "Cast" && !place;
      const bool isGone = place && m_source.nodes[*place].empty() && (node.op == "Identity" || node.op == "Dropout");
      if ((isCast || isGone) && node.domain.empty() && !node.inputs.empty() && !node.outputs.empty())
        passing.push_back(&node);
    }
    const auto addName = [&](const std::string& of, const std::string& as) {
      const auto known = m_handed.values.find(of);
      if (known != m_handed.values.end()) m_handed.values.emplace(as, ValueId(known->second));
    };
    for (const FileNode* node : passing) addName(node->inputs[0], node->outputs[0]);
    for (auto node = passing.rbegin(); node != passing.rend(); ++node) addName((*node)->outputs[0], (*node)->inputs[0]);
  }

  const Named& m_source;
  CompilerInput& m_handed;
};

/// Adds the names that nodes read, also nodes in bodies.
void addReadNames(const std::vector<FileNode>& nodes, std::set<std::string, std::less<>>& names) {
  for (const FileNode& node : nodes) {
    names.insert(node.inputs.begin(), node.inputs.end());
    for (const onnxlib::FileAttribute& attribute : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<const onnxlib::FileGraph>>(&attribute.value);
      if (body == nullptr || *body == nullptr) continue;
      for (const onnxlib::FileValue& output : (*body)->outputs) names.insert(output.name);
      addReadNames((*body)->nodes, names);
    }
  }
}

/// Returns the inputs that nothing reads and whose type the target does not have. A compiler that parses them refuses
/// the whole network.
std::vector<ValueId> needlessInputs(const Plan& plan, const onnxlib::FileGraph& file) {
  std::set<std::string, std::less<>> needed;
  addReadNames(file.nodes, needed);
  for (const onnxlib::FileValue& output : file.outputs) needed.insert(output.name);
  for (const onnxlib::FileTensor& tensor : file.initializers) needed.insert(tensor.name);
  std::vector<ValueId> needless;
  for (const onnxlib::FileValue& input : file.inputs) {
    const auto value = needed.contains(input.name) ? std::nullopt : plan.graph().findValue(input.name);
    if (value && !plan.target.types.contains(plan.graph().value(*value).type.dtype)) needless.push_back(*value);
  }
  return needless;
}

/// Returns the borders of the network without these inputs.
onnxlib::NetworkEdits::Borders bordersWithout(const std::vector<ValueId>& needless, const Plan& plan,
                                              const onnxlib::FileGraph& file) {
  onnxlib::NetworkEdits::Borders borders{.inputs = file.inputs, .outputs = file.outputs};
  for (const ValueId id : needless)
    std::erase_if(borders.inputs, [&](const auto& input) { return input.name == plan.graph().value(id).name; });
  return borders;
}

class Hander {
 public:
  Hander(std::shared_ptr<const Plan> plan, CompilerInputTypes types, const StopToken& stop)
      : m_plan(std::move(plan)), m_types(types), m_stop(stop) {}

  Result<CompilerInput> run() {
    const auto folder = std::make_shared<const TemporaryFolder>(
        TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope.network")));
    m_folder = folder.get();
    const Named source = TRY(named());
    TRY(checkStop(m_stop));
    CompilerInput handed{.plan = m_plan, .path = *folder / "network.onnx", .folder = folder, .file = {}};
    onnxlib::NetworkEdits edits;
    if (m_types == CompilerInputTypes::AsPlanned) edits = TRY(typedNetwork(*source.plan, source.file, {})).edits;
    handed.leftOut = needlessInputs(*m_plan, source.file.graph);
    if (!handed.leftOut.empty()) edits.borders = bordersWithout(handed.leftOut, *m_plan, source.file.graph);
    // These entries contain names, which are numbers in the handed file.
    edits.removedMetadata = {kInputSpecsKey, kExampleInputsKey};
    TRY(checkStop(m_stop));
    auto numbered = TRY(onnxlib::numberedNetwork(source.path, edits, onnxlib::weightsNameOf(handed.path), kMostInside));
    HandedFiles files = TRY(handOver(handed.path, std::move(numbered.bytes)));
    handed.weights = std::move(files.weights);
    handed.file = std::move(files.file);
    TRY(checkStop(m_stop));
    for (std::size_t place = 0; place < source.nodes.size(); ++place)
      handed.nodes.emplace("n" + std::to_string(place), source.nodes[place]);
    for (const FileNode& node : handed.file.graph.nodes) handed.nodes.try_emplace(node.name);
    ValueNames(source, handed).run(numbered.values);
    keepNamesOfFile(source, numbered.values, handed);
    return handed;
  }

 private:
  static void keepNamesOfFile(const Named& source, const std::map<std::string, std::string, std::less<>>& values,
                              CompilerInput& handed) {
    std::size_t place = 0;
    for (const std::string& name : uniqueNodeNames(source.file.graph))
      handed.namesInFile.emplace("n" + std::to_string(place++), name);
    for (const auto& [name, number] : values) handed.namesInFile.emplace(number, name);
    nameAddedCasts(handed);
  }

  /// Names the Casts that were added for types of the plan. The file has no names for them, so that each is named after
  /// the value that it reads.
  static void nameAddedCasts(CompilerInput& handed) {
    std::map<std::string, int> times;
    for (const FileNode& node : handed.file.graph.nodes) {
      if (node.op != "Cast" || node.inputs.empty() || handed.namesInFile.contains(node.name)) continue;
      const auto planned = handed.values.find(node.inputs[0]);
      const auto inFile = handed.namesInFile.find(node.inputs[0]);
      std::string name = "Cast";
      if (planned != handed.values.end())
        name += " of " + handed.plan->graph().value(planned->second).name;
      else if (inFile != handed.namesInFile.end())
        name += " of " + inFile->second;
      if (const int time = ++times[name]; time > 1) name += "#" + std::to_string(time);
      handed.namesInFile.emplace(node.name, std::move(name));
    }
  }

  /// Fewer bytes of weights than this are stored inside the file, because each read of an additional file takes time.
  static constexpr std::int64_t kMostInside = std::int64_t(4) << 20;

  Result<Named> named() {
    const Model& model = *unquantized(m_plan->model);
    if (!isOfFile(model)) return fromGraph();
    Named source{.path = TRY(sourceNetwork(*m_plan, m_stop)), .file = {}, .plan = m_plan, .nodes = {}};
    source.file = TRY(onnxlib::readModel(source.path));
    if (m_plan->model->unquantized != nullptr) return withCodes(source);
    source.nodes = nodesByOrigin(*m_plan, source.file.graph.nodes.size());
    return source;
  }

  /// Writes the file with the codes of a plan that quantises.
  Result<Named> withCodes(const Named& source) {
    std::vector<ExportNote> notes;
    const auto edits = TRY(quantizedNetwork(*m_plan, source.file, notes, m_stop));
    Named coded{.path = *m_folder / "codes.onnx", .file = {}, .plan = nullptr, .nodes = {}};
    const auto bytes = TRY(onnxlib::editNetwork(source.path, edits, onnxlib::weightsNameOf(coded.path)));
    TRY(writeHanded(coded.path, bytes));
    TRY(readAgain(coded, withoutCodes(m_plan->options)));
    coded.nodes = nodesByName(*m_plan, coded.file);
    return coded;
  }

  /// Writes the nodes of the graph in its order, with the oldest opset that has all of them and is not older than that
  /// of its file.
  Result<Named> fromGraph() {
    onnxlib::Opsets opsets{{"", 1}};
    for (const auto& [domain, version] : m_plan->model->opset)
      opsets[domain == "ai.onnx" ? std::string() : domain] = version;
    raiseTo(m_plan->graph(), opsets[""]);
    Named written{.path = *m_folder / "graph.onnx", .file = {}, .plan = nullptr, .nodes = {}};
    TRY(writeFileAtomically(written.path, TRY(onnxBytes(m_plan->graph(), opsets))));
    TRY(readAgain(written, m_plan->options));
    for (const NodeId id : m_plan->graph().order()) written.nodes.push_back({id});
    return written;
  }

  /// Raises `opset` to the oldest one that has all nodes of `graph`, and of the bodies in it, in their present form.
  static void raiseTo(const Graph& graph, std::int64_t& opset) {
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      FileNode made = fileNode(node);
      for (const ValueId input : node.inputs) made.inputs.push_back(input.valid() ? graph.value(input).name : "");
      if (node.domain.empty()) opset = opsetOf(made, opset);
      for (const auto& [key, attribute] : node.attributes)
        if (const auto* body = std::get_if<Subgraph>(&attribute)) raiseTo(*body->graph, opset);
    }
  }

  Status readAgain(Named& made, const PlanOptions& options) const {
    made.file = TRY(onnxlib::readModel(made.path));
    made.plan = m_plan;
    if (m_types == CompilerInputTypes::AsInFile) return Done{};
    auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(made.path, {}, m_stop)), m_stop)));
    made.plan = TRY(makePlan(std::move(model), options, nullptr, m_stop));
    return Done{};
  }

  std::shared_ptr<const Plan> m_plan;
  CompilerInputTypes m_types;
  const StopToken& m_stop;
  const TemporaryFolder* m_folder = nullptr;
};

}  // namespace

Result<CompilerInput> makeCompilerInput(std::shared_ptr<const Plan> plan, CompilerInputTypes types,
                                        const StopToken& stop) {
  return Hander(std::move(plan), types, stop).run();
}

Result<CompilerInput> networkAsNamed(std::shared_ptr<const Plan> plan, const std::filesystem::path& path) {
  auto read = TRY(onnxlib::readModel(path));
  CompilerInput handed{.plan = plan, .path = path, .folder = nullptr, .file = std::move(read)};
  const auto& file = handed.file.graph;
  if (file.nodes.size() != plan->model->origins.size())
    return Diagnostic{.message = "is not the network that was planned", .where = {.file = path.string()}};
  const NodesByPlace nodes = nodesByOrigin(*plan, file.nodes.size());
  const auto addValue = [&](const std::string& name) {
    if (const auto value = name.empty() ? std::nullopt : plan->graph().findValue(name))
      handed.values.emplace(name, *value);
  };
  for (const auto& input : file.inputs) addValue(input.name);
  for (const auto& tensor : file.initializers) addValue(tensor.name);
  for (std::size_t place = 0; place < file.nodes.size(); ++place) {
    for (const std::string& output : file.nodes[place].outputs) addValue(output);
    auto& held = handed.nodes[file.nodes[place].displayName()];
    held.insert(held.end(), nodes[place].begin(), nodes[place].end());
  }
  return handed;
}

CompilerInput graphAsNamed(std::shared_ptr<const Plan> plan) {
  CompilerInput network{.plan = plan, .path = plan->model->networkPath(), .folder = nullptr, .file = {}};
  const Graph& graph = plan->graph();
  for (const NodeId node : graph.order()) network.nodes[graph.node(node).name] = {node};
  for (const ValueId value : graph.allValues()) network.values.emplace(graph.value(value).name, value);
  return network;
}

std::map<std::string, std::filesystem::path> filesOf(const CompilerInput& network) {
  if (!network.replacementFiles.empty()) return network.replacementFiles;
  constexpr const char* kFile = "network.onnx";
  std::map<std::string, std::filesystem::path> files{{kFile, network.path}};
  const auto weights = network.path.parent_path() / onnxlib::weightsNameOf(network.path);
  if (std::error_code none; network.weights != nullptr || std::filesystem::exists(weights, none))
    files.emplace(onnxlib::weightsNameOf(kFile), weights);
  return files;
}

}  // namespace fusescope
