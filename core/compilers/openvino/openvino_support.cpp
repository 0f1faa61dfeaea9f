#include "compilers/openvino/openvino_support.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compilers/openvino/op_nodes.h"

namespace fusescope {
namespace {

std::string textIn(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Returns what the importer says about operators of a type: the paragraph "-- TYPE-20 with a message:\n…", or that it
/// has no rule for it.
std::string wordsAbout(const std::string& words, const std::string& type) {
  const auto start = words.find("-- " + type + "-");
  const auto line = start == std::string::npos ? start : words.find('\n', start);
  if (line == std::string::npos || words.substr(start, line - start).find("message") == std::string::npos)
    return fmt::format("No conversion rule found for {}", type);
  auto stop = std::min({words.find("\n-- ", line), words.find("\nSummary:", line), words.size()});
  while (stop > line && words[stop - 1] == '\n') --stop;
  const auto last = words.rfind('\n', stop - 1);  // the checks that failed come before their messages
  return words.substr(last + 1, stop - last - 1);
}

class OpenvinoAnswer {
 public:
  OpenvinoAnswer(const CompilerInput& network, const ImportedNetwork& imported, const Json& answer)
      : m_network(network), m_imported(imported), m_answer(answer), m_file(network.file.graph) {}

  CompilerSupport run() {
    const OpNodes ops = opNodes(m_imported, m_file);
    readUnconverted(ops);
    readDevices(ops);
    CompilerSupport support;
    for (const NodeId id : m_network.plan->graph().order()) {
      NodeSupport node{.node = m_network.plan->graph().node(id).name, .isAccepted = true};
      if (const auto refused = m_refused.find(id); refused != m_refused.end()) {
        node.isAccepted = refused->second.empty() ? std::nullopt : std::optional(false);
        node.message = refused->second;
        if (!node.message.empty()) node.code = "validate.compiler_refused";
      }
      support.nodes.push_back(std::move(node));
    }
    return support;
  }

 private:
  /// Refuses a node; without words nothing is known about it.
  void refuse(std::uint32_t fileNode, const std::string& words) {
    if (fileNode == OpNodes::kNone) return;
    const auto known = m_network.nodes.find(m_file.node(fileNode).file->name);
    if (known == m_network.nodes.end()) return;
    for (const NodeId node : known->second) m_refused.try_emplace(node, words);
  }

  void readUnconverted(const OpNodes& ops) {
    const Json list = m_answer.value("unconverted", Json::array());
    for (const Json& entry : list) {
      const auto op = m_imported.byName.find(textIn(entry, "op"));
      if (op == m_imported.byName.end()) continue;
      const Json attributes = entry.value("attributes", Json::object());
      refuse(ops.nodes[op->second], wordsAbout(textIn(m_answer, "words"), textIn(attributes, "ONNX_META_type")));
      m_isWhole = false;
    }
  }

  /// After a node that was not imported, types are unknown, so that nothing can be said about what the device lacks
  /// there.
  void readDevices(const OpNodes& ops) {
    const Json devices = m_answer.value("devices", Json::object());
    for (std::uint32_t i = 0; i < m_imported.ops.size(); ++i) {
      const ImportedOp& op = m_imported.op(i);
      if (devices.contains(op.name) || op.type == "Constant" || op.type == "Result") continue;
      refuse(ops.nodes[i], m_isWhole ? fmt::format("The device does not run the operator {}.", op.type) : "");
    }
  }

  const CompilerInput& m_network;
  const ImportedNetwork& m_imported;
  const Json& m_answer;
  TensorGraph m_file;
  bool m_isWhole = true;
  std::map<NodeId, std::string> m_refused;
};

}  // namespace

CompilerSupport openvinoSupport(const CompilerInput& network, const ImportedNetwork& imported, const Json& answer) {
  return OpenvinoAnswer(network, imported, answer).run();
}

std::string nodeInError(std::string_view message) {
  const auto start = message.find("<Node(");
  if (start == std::string_view::npos) return {};
  const auto name = message.find("): ", start);
  const auto stop = message.find('>', start);
  if (name == std::string_view::npos || stop == std::string_view::npos || stop < name) return {};
  return std::string(message.substr(name + 3, stop - name - 3));
}

}  // namespace fusescope
