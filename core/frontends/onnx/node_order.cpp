#include "frontends/onnx/node_order.h"

#include <functional>
#include <queue>
#include <unordered_map>

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;

std::unordered_map<std::string_view, std::size_t> producers(const FileGraph& graph) {
  std::unordered_map<std::string_view, std::size_t> producer;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& output : graph.nodes[i].outputs)
      if (!output.empty()) producer.try_emplace(output, i);
  return producer;
}

}  // namespace

std::unordered_set<std::string_view> namesRead(const FileGraph& graph) {
  std::unordered_set<std::string_view> names;
  forEachRead(graph, [&](const std::string& name) { names.insert(name); });
  return names;
}

std::vector<std::size_t> nodesBeforeWhatTheyRead(const FileGraph& graph) {
  const auto producer = producers(graph);
  std::vector<std::size_t> early;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    bool late = false;
    forEachRead(graph.nodes[i], [&](const std::string& name) {
      const auto found = producer.find(name);
      late = late || (found != producer.end() && found->second > i);
    });
    if (late) early.push_back(i);
  }
  return early;
}

std::vector<std::size_t> runningOrder(const FileGraph& graph) {
  const auto producer = producers(graph);
  std::vector<std::vector<std::size_t>> readers(graph.nodes.size());
  std::vector<std::size_t> missing(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    forEachRead(graph.nodes[i], [&](const std::string& name) {
      const auto found = producer.find(name);
      if (found == producer.end() || found->second == i) return;
      readers[found->second].push_back(i);
      ++missing[i];
    });
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<std::size_t> order;
  std::vector<char> placed(graph.nodes.size(), 0);
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    placed[next] = 1;
    for (const std::size_t reader : readers[next])
      if (--missing[reader] == 0) ready.push(reader);
  }
  for (std::size_t i = 0; i < placed.size(); ++i)
    if (placed[i] == 0) order.push_back(i);
  return order;
}

}  // namespace fusescope
