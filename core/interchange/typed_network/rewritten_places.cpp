#include <algorithm>
#include <set>

#include "interchange/typed_network/opset_raising.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;
using onnxlib::NetworkEdits;
using onnxlib::NodePlace;

const FileNode& nodeAt(const FileGraph& main, const NodePlace& place) {
  const FileGraph* graph = &main;
  for (const onnxlib::BodyStep& step : place.graph)
    graph = std::get<std::shared_ptr<const FileGraph>>(graph->nodes[step.node].attribute(step.attribute)->value).get();
  return graph->nodes[place.node];
}

void put(std::vector<std::string>& names, std::size_t slot, const std::string& name) {
  if (names.size() <= slot) names.resize(slot + 1);
  names[slot] = name;
}

/// What is done to nodes that are written anew is done to these, and is no edit of the file any more.
class Settling {
 public:
  Settling(const RaisedFile& raised, NetworkEdits& edits) : m_edits(edits) {
    for (const auto& [place, isOfFile] : raised.rewritten) m_nodes.emplace(place, nodeAt(raised.file.graph, place));
  }

  void run(const RaisedFile& raised) {
    take(m_edits.operands,
         [](FileNode& node, const NetworkEdits::Operand& edit) { put(node.inputs, edit.slot, edit.value); });
    take(m_edits.outcomes,
         [](FileNode& node, const NetworkEdits::Outcome& edit) { put(node.outputs, edit.slot, edit.value); });
    take(m_edits.removedAttributes,
         [](FileNode& node, const NetworkEdits::RemovedAttribute& edit) { drop(node, edit.name); });
    take(m_edits.attributes, [](FileNode& node, const NetworkEdits::NewAttribute& edit) {
      drop(node, edit.attribute.name);
      node.attributes.push_back(edit.attribute);
    });
    std::erase_if(m_edits.removedNodes,
                  [&](const NodePlace& place) { return m_nodes.erase(place) > 0 && !raised.rewritten.at(place); });
    std::vector<NetworkEdits::NewNode> added;
    for (auto& [place, node] : m_nodes) {
      if (raised.rewritten.at(place)) m_edits.removedNodes.push_back(place);
      added.push_back({place.graph, std::move(node)});
    }
    m_edits.nodes.insert(m_edits.nodes.begin(), added.begin(), added.end());
    m_edits.nodes = inOrder(std::move(m_edits.nodes));
  }

 private:
  template <class Edit, class Apply>
  void take(std::vector<Edit>& list, Apply apply) {
    std::erase_if(list, [&](const Edit& edit) {
      const auto node = m_nodes.find(edit.node);
      if (node != m_nodes.end()) apply(node->second, edit);
      return node != m_nodes.end();
    });
  }

  static void drop(FileNode& node, const std::string& attribute) {
    std::erase_if(node.attributes, [&](const onnxlib::FileAttribute& each) { return each.name == attribute; });
  }

  /// Each behind those that make what it reads, else as they stand.
  static std::vector<NetworkEdits::NewNode> inOrder(std::vector<NetworkEdits::NewNode> nodes) {
    std::map<std::string_view, std::size_t> makers;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (const std::string& output : nodes[i].node.outputs) makers.emplace(output, i);
    std::vector<NetworkEdits::NewNode> ordered;
    std::vector<bool> isSeen(nodes.size());
    std::vector<std::pair<std::size_t, std::size_t>> open;  // a node, and its first input that was not looked at
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!isSeen[i]) open.emplace_back(i, 0);
      while (!open.empty()) {
        auto& [node, input] = open.back();
        isSeen[node] = true;
        const auto& inputs = nodes[node].node.inputs;
        if (input == inputs.size()) {
          ordered.push_back(nodes[node]);
          open.pop_back();
        } else if (const auto maker = makers.find(inputs[input++]); maker != makers.end() && !isSeen[maker->second]) {
          open.emplace_back(maker->second, 0);
        }
      }
    }
    return ordered;
  }

  NetworkEdits& m_edits;
  std::map<NodePlace, FileNode> m_nodes;
};

}  // namespace

void settleRewritten(const RaisedFile& raised, NetworkEdits& edits) {
  if (!raised.rewritten.empty()) Settling(raised, edits).run(raised);
}

}  // namespace fusescope
