#include "interchange/typed_network/folded_for_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/name_hints.h"
#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx/node_order.h"
#include "ir/graph.h"
#include "target/target_table.h"

namespace fusescope {
namespace {

using onnxlib::FileNode;
using onnxlib::NodePlace;

/// Axes, extents and indices are few; what is larger the target's own folding sees to.
constexpr std::int64_t kMostElements = 4096;

class TargetFolder {
 public:
  TargetFolder(const Plan& plan, const onnxlib::FileModel& file, TypedNetwork& network)
      : m_graph(plan.graph()), m_file(file.graph), m_network(network) {
    for (std::size_t i = 0; i < m_file.nodes.size(); ++i)
      for (const std::string& output : m_file.nodes[i].outputs)
        if (!output.empty()) m_makers.emplace(output, i);
    for (const auto& output : m_file.outputs) m_given.insert(output.name);
  }

  void run() {
    const std::set<std::size_t> before = needed(false);
    const std::set<std::size_t> after = needed(true);
    if (m_folded.empty()) return;
    std::set<NodePlace> gone;
    for (const std::size_t place : before)
      if (!after.contains(place)) gone.insert({{}, place});
    dropEdits(gone);
    m_network.edits.removedNodes.insert(m_network.edits.removedNodes.end(), gone.begin(), gone.end());
    std::vector<std::string> names;
    for (const auto& [name, tensor] : m_folded) {
      m_network.edits.initializers.push_back({{}, fileTensor(name, *tensor)});
      names.push_back("'" + name + "'");
    }
    m_network.notes.push_back({fmt::format(
        "these values are written as constants, which they are, because the target's parser requires it: {}",
        listed(names))});
  }

 private:
  /// The nodes that the outputs of the file need; with `folds` what is known is not calculated.
  std::set<std::size_t> needed(bool folds) {
    std::set<std::size_t> found;
    std::unordered_set<std::string_view> seen;
    std::vector<std::string_view> waiting;
    const auto want = [&](const std::string& name) {
      if (seen.insert(name).second) waiting.push_back(name);
    };
    for (const auto& output : m_file.outputs) want(output.name);
    while (!waiting.empty()) {
      const auto maker = m_makers.find(waiting.back());
      waiting.pop_back();
      if (maker == m_makers.end()) continue;
      const FileNode& node = m_file.nodes[maker->second];
      if (folds && isKnown(node)) {
        for (const std::string& output : node.outputs)
          if (!output.empty()) m_folded.emplace(output, constantOf(output));
        continue;
      }
      if (found.insert(maker->second).second) forEachRead(node, want);
    }
    return found;
  }

  /// Returns whether all that the node makes is known, and is nothing that the types of a plan are about.
  bool isKnown(const FileNode& node) const {
    if (node.domain.empty() && node.op == "Constant") return false;
    return std::ranges::all_of(node.outputs, [&](const std::string& output) {
      return output.empty() || (!m_given.contains(output) && constantOf(output) != nullptr);
    });
  }

  const Tensor* constantOf(const std::string& name) const {
    const auto value = m_graph.findValue(name);
    const Tensor* constant = value ? m_graph.constantData(*value) : nullptr;
    const bool isPlain = constant != nullptr && constant->container() == Container::None &&
                         (isInteger(constant->type()) || constant->type() == DataType::Bool);
    return isPlain && constant->count() <= kMostElements ? constant : nullptr;
  }

  /// Nothing is to be changed at nodes that go.
  void dropEdits(const std::set<NodePlace>& gone) {
    auto& edits = m_network.edits;
    const auto isGone = [&](const auto& edit) { return gone.contains(edit.node); };
    std::erase_if(edits.operands, isGone);
    std::erase_if(edits.outcomes, isGone);
    std::erase_if(edits.attributes, isGone);
    std::erase_if(edits.removedAttributes, isGone);
  }

  const Graph& m_graph;
  const onnxlib::FileGraph& m_file;
  TypedNetwork& m_network;
  std::unordered_map<std::string_view, std::size_t> m_makers;
  std::unordered_set<std::string_view> m_given;
  std::map<std::string, const Tensor*> m_folded;
};

}  // namespace

void foldForTarget(const Plan& plan, const onnxlib::FileModel& file, TypedNetwork& network) {
  if (plan.target.table->stronglyTyped && plan.target.table->planningOnly) TargetFolder(plan, file, network).run();
}

}  // namespace fusescope
