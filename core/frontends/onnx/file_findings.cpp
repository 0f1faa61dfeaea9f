#include "frontends/onnx/file_findings.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx/node_order.h"
#include "frontends/onnx/unique_names.h"
#include "frontends/rebuilt_metadata.h"
#include "ir/tensor_type.h"
#include "ops/type_flow.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileModel;
using onnxlib::FileNode;
using onnxlib::FileTensor;

using Names = std::unordered_set<std::string_view>;

/// One graph of the file: the main graph or a body.
class GraphFindings {
 public:
  GraphFindings(const FileGraph& graph, BodyPath path, std::vector<const Names*> outside,
                std::vector<Decision>& decisions)
      : m_graph(graph), m_path(std::move(path)), m_outside(std::move(outside)), m_decisions(decisions) {}

  void record() {
    collectOwnNames();
    recordInitializers();
    recordDeclaredTypes();
    recordRepeatedTypes();
    recordOrder();
    recordShadowedNames();
    recordNodes();
  }

 private:
  void add(std::string_view code, std::vector<Subject> subjects, DecisionArguments arguments) {
    m_decisions.push_back(decide(code, std::move(subjects), "import", std::move(arguments)));
  }

  void collectOwnNames() {
    for (const auto& input : m_graph.inputs) m_own.insert(input.name);
    for (const FileTensor& tensor : m_graph.initializers) m_own.insert(tensor.name);
    for (const FileNode& node : m_graph.nodes)
      for (const std::string& output : node.outputs)
        if (!output.empty()) m_own.insert(output);
  }

  void recordInitializers() {
    const std::unordered_set<std::string_view> read = namesRead(m_graph);
    Names seen;
    std::vector<Subject> unused;
    std::int64_t bytes = 0;
    for (const FileTensor& tensor : m_graph.initializers) {
      const auto subject = [&] { return Subject::value(NetworkPlace{m_path, tensor.name}); };
      if (!seen.insert(tensor.name).second) {
        add("import.initializer_repeated", {subject()}, {{"value", m_path.of(tensor.name)}});
      } else if (!read.contains(tensor.name)) {
        unused.push_back(subject());
        bytes += static_cast<std::int64_t>(byteSize(tensor.dtype, elementCount(tensor.dims).value_or(0)));
      }
    }
    if (unused.empty()) return;
    const std::size_t count = unused.size();
    add("import.initializers_unused", std::move(unused), {{"count", count}, {"bytes", bytes}});
  }

  void recordDeclaredTypes() {
    std::vector<Subject> ghosts;
    for (const auto& value : m_graph.values)
      if (!m_own.contains(value.name)) ghosts.push_back(Subject::value(NetworkPlace{m_path, value.name}));
    if (ghosts.empty()) return;
    const std::size_t count = ghosts.size();
    add("import.types_of_nothing", std::move(ghosts), {{"count", count}});
  }

  /// Records types of one value that contradict each other. Those of inputs and constants are used, otherwise the
  /// first.
  void recordRepeatedTypes() {
    std::unordered_map<std::string_view, TensorType> declared;
    for (const FileTensor& tensor : m_graph.initializers)
      declared.try_emplace(tensor.name, TensorType{tensor.dtype, Shape::of(tensor.dims)});
    for (const auto* values : {&m_graph.inputs, &m_graph.outputs, &m_graph.values})
      for (const auto& value : *values) {
        const TensorType type = toType(value.type);
        const auto [first, isNew] = declared.try_emplace(value.name, type);
        if (isNew || !m_own.contains(value.name) || mergedType(first->second, type)) continue;
        add("import.type_repeated", {Subject::value(NetworkPlace{m_path, value.name})},
            {{"value", m_path.of(value.name)}, {"first", first->second.text()}, {"again", type.text()}});
      }
  }

  void recordOrder() {
    const std::vector<std::size_t> early = nodesBeforeWhatTheyRead(m_graph);
    if (early.empty()) return;
    std::vector<Subject> subjects;
    for (const std::size_t i : early)
      subjects.push_back(Subject::node(NetworkPlace{m_path, m_graph.nodes[i].displayName()}));
    add("import.sorted", std::move(subjects), {{"count", early.size()}});
  }

  void recordShadowedNames() {
    if (m_outside.empty()) return;
    std::set<std::string_view> shadowed;
    for (const std::string_view name : m_own)
      for (const Names* names : m_outside)
        if (names->contains(name)) shadowed.insert(name);
    for (const std::string_view name : shadowed)
      add("import.name_shadowed", {Subject::value(NetworkPlace{m_path, std::string(name)})}, {{"name", name}});
  }

  void recordNodes() {
    UniqueNames names;
    for (const FileNode& node : m_graph.nodes) {
      const std::string name = names.take(node.displayName());
      if (name != node.displayName())
        add("import.node_renamed", {Subject::node(NetworkPlace{m_path, name})},
            {{"name", node.displayName()}, {"given", name}});
      recordMaps(node, name);
      for (const auto& attribute : node.attributes) {
        const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value);
        if (body == nullptr) continue;
        std::vector<const Names*> outside = m_outside;
        outside.push_back(&m_own);
        GraphFindings(**body, m_path.into(name, attribute.name), std::move(outside), m_decisions).record();
      }
    }
  }

  void recordMaps(const FileNode& node, const std::string& name) {
    if (node.op != "ZipMap" || node.domain != "ai.onnx.ml" || node.outputs.empty()) return;
    std::vector<std::string> classes;
    for (const auto& attribute : node.attributes) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) classes = *texts;
      if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&attribute.value))
        for (const std::int64_t number : *numbers) classes.push_back(std::to_string(number));
    }
    add("import.maps_as_table", {Subject::node(NetworkPlace{m_path, name})},
        {{"value", m_path.of(node.outputs[0])}, {"classes", joined(classes)}});
  }

  const FileGraph& m_graph;
  BodyPath m_path;
  std::vector<const Names*> m_outside;
  std::vector<Decision>& m_decisions;
  Names m_own;  ///< of values
};

void collectDomains(const FileGraph& graph, std::set<std::string>& domains) {
  for (const FileNode& node : graph.nodes) {
    domains.insert(node.domain);
    for (const auto& attribute : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value))
        collectDomains(**body, domains);
  }
}

void recordVersions(const FileModel& file, std::vector<Decision>& decisions) {
  const std::int64_t newest = onnxlib::newestIrVersion();
  if (file.irVersion > newest)
    decisions.push_back(
        decide("import.newer_ir_version", {}, "import", {{"version", file.irVersion}, {"known", newest}}));
  if (file.irVersion < onnxlib::kOldestIrVersion)
    decisions.push_back(decide("import.older_ir_version", {}, "import",
                               {{"version", file.irVersion}, {"oldest", onnxlib::kOldestIrVersion}}));
  std::set<std::string> domains;
  collectDomains(file.graph, domains);
  for (const std::string& domain : domains)
    if (!domain.empty() && !file.opsets.contains(domain))
      decisions.push_back(decide("import.opset_missing", {}, "import", {{"domain", domain}}));
  if (file.holdsTraining) decisions.push_back(decide("import.training_dropped", {}, "import"));
}

}  // namespace

void recordFindings(const FileModel& file, std::vector<Decision>& decisions) {
  recordVersions(file, decisions);
  if (const auto rebuilt = file.metadata.find(kRebuiltFromKey); rebuilt != file.metadata.end()) {
    const auto isUnknown = [](const FileNode& node) { return node.domain == kLoggedDomain; };
    decisions.push_back(
        decide("import.rebuilt_from_log", {}, "import",
               {{"file", rebuilt->second}, {"unknown", std::ranges::count_if(file.graph.nodes, isUnknown)}}));
  }
  GraphFindings(file.graph, {}, {}, decisions).record();
}

}  // namespace fusescope
