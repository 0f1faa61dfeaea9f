#include "frontends/onnx/functions.h"

#include <map>
#include <memory>
#include <set>

namespace fusescope {
namespace {

using onnxlib::FileAttribute;
using onnxlib::FileGraph;
using onnxlib::FileNode;

class Instantiation {
 public:
  Instantiation(const onnxlib::FileFunction& function, const FileNode& call) : m_function(function), m_call(call) {}

  std::vector<FileNode> run(const std::function<std::string(const std::string&)>& freshValue) {
    for (std::size_t i = 0; i < m_function.inputs.size(); ++i)
      m_renamed[m_function.inputs[i]] = i < m_call.inputs.size() ? m_call.inputs[i] : "";
    for (std::size_t i = 0; i < m_function.outputs.size(); ++i) {
      const bool asked = i < m_call.outputs.size() && !m_call.outputs[i].empty();
      if (m_renamed.contains(m_function.outputs[i])) {
        // An input that is returned unchanged.
        if (asked) m_copies.emplace_back(m_function.outputs[i], m_call.outputs[i]);
      } else {
        m_renamed[m_function.outputs[i]] = asked ? m_call.outputs[i] : freshValue(prefixed(m_function.outputs[i]));
      }
    }
    for (const FileNode& node : m_function.nodes)
      for (const std::string& output : node.outputs)
        if (!output.empty() && !m_renamed.contains(output)) m_renamed[output] = freshValue(prefixed(output));

    std::vector<FileNode> nodes;
    for (const FileNode& node : m_function.nodes) {
      nodes.push_back(renamed(node, {}));
      nodes.back().name = prefixed(node.name.empty() ? node.op : node.name);
    }
    for (const auto& [from, to] : m_copies)
      nodes.push_back({.name = prefixed("Identity"),
                       .op = "Identity",
                       .domain = {},
                       .overload = {},
                       .inputs = {m_renamed[from]},
                       .outputs = {to},
                       .attributes = {}});
    return nodes;
  }

 private:
  std::string prefixed(const std::string& inner) const { return m_call.displayName() + "/" + inner; }

  std::string renamed(const std::string& value, const std::set<std::string>& local) const {
    const auto found = m_renamed.find(value);
    return found == m_renamed.end() || local.contains(value) ? value : found->second;
  }

  /// In a body, only the operands of nodes change, because its own names are in a separate scope.
  FileNode renamed(FileNode node, const std::set<std::string>& local) const {
    for (std::string& input : node.inputs) input = renamed(input, local);
    for (std::string& output : node.outputs) output = renamed(output, local);
    std::vector<FileAttribute> attributes;
    for (FileAttribute& attribute : node.attributes) {
      if (!attribute.reference.empty()) {
        const FileAttribute* given = m_call.attribute(attribute.reference);
        if (given == nullptr) given = defaultOf(attribute.reference);
        if (given == nullptr) continue;
        attribute.value = given->value;
        attribute.reference.clear();
      } else if (const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value)) {
        attribute.value = std::make_shared<const FileGraph>(renamed(**body, local));
      }
      attributes.push_back(std::move(attribute));
    }
    node.attributes = std::move(attributes);
    return node;
  }

  FileGraph renamed(FileGraph graph, std::set<std::string> local) const {
    for (const auto& input : graph.inputs) local.insert(input.name);
    for (const auto& tensor : graph.initializers) local.insert(tensor.name);
    for (const FileNode& node : graph.nodes) local.insert(node.outputs.begin(), node.outputs.end());
    for (FileNode& node : graph.nodes) node = renamed(std::move(node), local);
    for (auto& output : graph.outputs) output.name = renamed(output.name, local);
    return graph;
  }

  const FileAttribute* defaultOf(const std::string& name) const {
    for (const FileAttribute& attribute : m_function.defaults)
      if (attribute.name == name) return &attribute;
    return nullptr;
  }

  const onnxlib::FileFunction& m_function;
  const FileNode& m_call;
  std::map<std::string, std::string> m_renamed;
  std::vector<std::pair<std::string, std::string>> m_copies;
};

}  // namespace

std::string functionKey(const std::string& domain, const std::string& name, const std::string& overload) {
  return domain + '\n' + name + '\n' + overload;
}

std::vector<FileNode> instantiate(const onnxlib::FileFunction& function, const FileNode& call,
                                  const std::function<std::string(const std::string&)>& freshValue) {
  return Instantiation(function, call).run(freshValue);
}

}  // namespace fusescope
