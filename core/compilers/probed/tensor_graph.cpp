#include <algorithm>
#include <deque>
#include <functional>
#include <set>
#include <unordered_set>

#include "base/sort_distinct.h"
#include "compilers/probed/slices.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;

const FileGraph* bodyOf(const onnxlib::FileAttribute& attribute) {
  const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value);
  return body == nullptr ? nullptr : body->get();
}

/// Calls `use` with each name that `body` reads and does not define; these are names of the graphs around it.
void namesFromOutside(const FileGraph& body, const std::function<void(std::string_view)>& use) {
  std::unordered_set<std::string_view> own;
  for (const auto& input : body.inputs) own.insert(input.name);
  for (const auto& tensor : body.initializers) own.insert(tensor.name);
  for (const FileNode& node : body.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  const auto read = [&](std::string_view name) {
    if (!name.empty() && !own.contains(name)) use(name);
  };
  for (const FileNode& node : body.nodes) {
    for (const std::string& name : node.inputs) read(name);
    for (const auto& attribute : node.attributes)
      if (const FileGraph* inner = bodyOf(attribute)) namesFromOutside(*inner, read);
  }
  for (const auto& output : body.outputs) read(output.name);
}

}  // namespace

TensorGraph::TensorGraph(const FileGraph& graph) {
  m_nodes.reserve(graph.nodes.size());
  for (const auto& input : graph.inputs) m_tensors[tensorOf(input.name)].isInput = true;
  for (const auto& tensor : graph.initializers) m_tensors[tensorOf(tensor.name)].initializer = &tensor;
  for (const FileNode& node : graph.nodes) addNode(node);
  for (const auto& output : graph.outputs) m_tensors[tensorOf(output.name)].isOutput = true;
  sortNodes();
}

std::uint32_t TensorGraph::tensorOf(std::string_view name) {
  const auto [entry, isNew] = m_tensorByName.try_emplace(name, static_cast<std::uint32_t>(m_tensors.size()));
  if (isNew) m_tensors.push_back({.name = name, .consumers = {}});
  return entry->second;
}

void TensorGraph::addNode(const FileNode& file) {
  const auto index = static_cast<std::uint32_t>(m_nodes.size());
  Node node{.file = &file, .reads = {}, .makes = {}};
  const auto read = [&](std::string_view name) {
    node.reads.push_back(name.empty() ? kNone : tensorOf(name));
    if (name.empty()) return;
    std::vector<std::uint32_t>& consumers = m_tensors[node.reads.back()].consumers;
    if (consumers.empty() || consumers.back() != index) consumers.push_back(index);
  };
  for (const std::string& name : file.inputs) read(name);
  std::set<std::string_view> captured;  // each name once, in alphabetical order
  for (const auto& attribute : file.attributes)
    if (const FileGraph* body = bodyOf(attribute))
      namesFromOutside(*body, [&](std::string_view name) { captured.insert(name); });
  for (const std::string_view name : captured) read(name);
  for (const std::string& name : file.outputs) {
    node.makes.push_back(name.empty() ? kNone : tensorOf(name));
    if (name.empty()) continue;
    Tensor& made = m_tensors[node.makes.back()];
    if (made.producer == kNone && !made.isInput) made.producer = index;
  }
  if (!file.name.empty()) m_nodeByName.try_emplace(file.name, index);
  m_nodes.push_back(std::move(node));
}

void TensorGraph::sortNodes() {
  std::vector<std::uint32_t> waits(m_nodes.size(), 0);  // the number of producers for which each node waits
  for (std::uint32_t i = 0; i < m_nodes.size(); ++i) {
    std::vector<std::uint32_t> reads = m_nodes[i].reads;
    sortDistinct(reads);
    waits[i] = static_cast<std::uint32_t>(std::count_if(reads.begin(), reads.end(), [&](std::uint32_t read) {
      return read != kNone && m_tensors[read].producer != kNone;
    }));
  }
  std::deque<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < m_nodes.size(); ++i)
    if (waits[i] == 0) ready.push_back(i);
  m_order.reserve(m_nodes.size());
  while (!ready.empty()) {
    const std::uint32_t node = ready.front();
    ready.pop_front();
    m_order.push_back(node);
    std::vector<std::uint32_t> makes = m_nodes[node].makes;
    sortDistinct(makes);
    for (const std::uint32_t made : makes) {
      if (made == kNone || m_tensors[made].producer != node) continue;
      for (const std::uint32_t consumer : m_tensors[made].consumers)
        if (--waits[consumer] == 0) ready.push_back(consumer);
    }
  }
}

std::uint32_t TensorGraph::findTensor(std::string_view name) const {
  const auto found = m_tensorByName.find(name);
  return found == m_tensorByName.end() || name.empty() ? kNone : found->second;
}

std::uint32_t TensorGraph::findNode(std::string_view name) const {
  const auto found = m_nodeByName.find(name);
  return found == m_nodeByName.end() ? kNone : found->second;
}

}  // namespace fusescope
