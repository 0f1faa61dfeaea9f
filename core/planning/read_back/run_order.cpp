#include <algorithm>
#include <functional>
#include <queue>

#include "ir/graph.h"
#include "planning/read_back/read_back_steps.h"

namespace fusescope {
namespace {

/// Kahn's algorithm over kernels and nodes. A node is done when all kernels that contain it are done or, if there are
/// none, when everything that it reads is done. Linear except for the queue.
class KernelSorter {
 public:
  KernelSorter(const Graph& graph, const std::vector<FusedNode>& kernels,
               const std::vector<std::vector<std::uint32_t>>& holders)
      : m_graph(graph),
        m_kernels(static_cast<std::uint32_t>(kernels.size())),
        m_readers(kernels.size() + graph.nodeIdLimit()),
        m_awaited(m_readers.size(), 0),
        m_placed(kernels.size(), false) {
    for (std::uint32_t i = 0; i < m_kernels; ++i)
      for (const ValueId value : kernels[i].inputs) {
        const NodeId producer = graph.value(value).producer;
        if (producer.valid() && !std::ranges::binary_search(holders[producer.index], i)) await(vertexOf(producer), i);
      }
    for (const NodeId node : graph.order()) {
      for (const std::uint32_t holder : holders[node.index]) await(holder, vertexOf(node));
      if (!holders[node.index].empty()) continue;
      for (const ValueId value : operands(graph.node(node)))
        if (value.valid() && graph.value(value).producer.valid())
          await(vertexOf(graph.value(value).producer), vertexOf(node));
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> free;
    for (std::uint32_t i = 0; i < m_kernels; ++i)
      if (m_awaited[i] == 0) m_ready.push(i);
    for (const NodeId node : m_graph.order())
      if (m_awaited[vertexOf(node)] == 0) free.push_back(vertexOf(node));
    for (const std::uint32_t node : free) pass(node);
    for (std::uint32_t first = 0; m_order.size() < m_kernels;) {
      if (!m_ready.empty()) {
        const std::uint32_t next = m_ready.top();
        m_ready.pop();
        place(next);
      } else if (m_placed[first]) {
        ++first;
      } else {
        place(first);
      }
    }
    return std::move(m_order);
  }

 private:
  /// Kernels come first, then nodes.
  std::uint32_t vertexOf(NodeId node) const { return m_kernels + node.index; }

  void await(std::uint32_t first, std::uint32_t then) {
    m_readers[first].push_back(then);
    ++m_awaited[then];
  }

  void place(std::uint32_t kernel) {
    if (m_placed[kernel]) return;
    m_placed[kernel] = true;
    m_order.push_back(kernel);
    pass(kernel);
  }

  /// `vertex` is done; what waited only for it comes next.
  void pass(std::uint32_t vertex) {
    std::vector<std::uint32_t> done{vertex};
    while (!done.empty()) {
      const std::vector<std::uint32_t> readers = std::move(m_readers[done.back()]);
      m_readers[done.back()].clear();
      done.pop_back();
      for (const std::uint32_t reader : readers) {
        if (--m_awaited[reader] > 0) continue;
        if (reader < m_kernels) {
          m_ready.push(reader);
        } else {
          done.push_back(reader);
        }
      }
    }
  }

  const Graph& m_graph;
  std::uint32_t m_kernels;
  std::vector<std::vector<std::uint32_t>> m_readers;  ///< by vertex
  std::vector<std::uint32_t> m_awaited;               ///< by vertex: how many that it waits for are not done
  std::vector<char> m_placed;                         ///< by kernel
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> m_ready;
  std::vector<std::uint32_t> m_order;
};

}  // namespace

std::vector<std::uint32_t> runOrder(const Graph& graph, const std::vector<FusedNode>& kernels,
                                    const std::vector<std::vector<std::uint32_t>>& holders) {
  return KernelSorter(graph, kernels, holders).run();
}

}  // namespace fusescope
