#include "analysis/min_cut.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace fusescope {

namespace {
constexpr double kNothing = 1e-15;  // smaller capacities are rounding errors
}

std::size_t MinCut::add() {
  m_from.emplace_back();
  return m_from.size() - 3;
}

void MinCut::connect(std::size_t from, std::size_t to, double capacity) {
  m_from[from].push_back(m_edges.size());
  m_edges.push_back({to, capacity});
  m_from[to].push_back(m_edges.size());
  m_edges.push_back({from, 0});
}

// An item on the source's side has the label 1: cutting it from the sink costs what label 1 costs.
void MinCut::addCosts(std::size_t thing, double zero, double one) {
  if (one > 0) connect(thing + 2, kSink, one);
  if (zero > 0) connect(kSource, thing + 2, zero);
}

void MinCut::addCost(std::size_t first, std::size_t second, double cost) {
  if (cost > 0) connect(second + 2, first + 2, cost);
}

bool MinCut::findLevels() {
  m_level.assign(m_from.size(), -1);
  m_level[kSource] = 0;
  std::queue<std::size_t> pending;
  pending.push(kSource);
  while (!pending.empty()) {
    const std::size_t at = pending.front();
    pending.pop();
    for (const std::size_t index : m_from[at]) {
      const Edge& edge = m_edges[index];
      if (edge.left <= kNothing || m_level[edge.to] >= 0) continue;
      m_level[edge.to] = m_level[at] + 1;
      pending.push(edge.to);
    }
  }
  return m_level[kSink] >= 0;
}

double MinCut::push(std::size_t at, double flow) {
  if (at == kSink) return flow;
  for (std::size_t& i = m_next[at]; i < m_from[at].size(); ++i) {
    Edge& edge = m_edges[m_from[at][i]];
    if (edge.left <= kNothing || m_level[edge.to] != m_level[at] + 1) continue;
    const double pushed = push(edge.to, std::min(flow, edge.left));
    if (pushed <= kNothing) continue;
    edge.left -= pushed;
    m_edges[m_from[at][i] ^ 1U].left += pushed;
    return pushed;
  }
  return 0;
}

std::vector<char> MinCut::solve() {
  // An infinite capacity is replaced by more than the sum of all finite ones.
  double all = 1;
  for (const Edge& edge : m_edges)
    if (edge.left != std::numeric_limits<double>::infinity()) all += edge.left;
  for (Edge& edge : m_edges) edge.left = std::min(edge.left, all);
  while (findLevels()) {
    m_next.assign(m_from.size(), 0);
    while (push(kSource, all * static_cast<double>(m_edges.size() + 1)) > kNothing) {
    }
  }
  std::vector<char> labels(m_from.size() - 2, 0);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = m_level[i + 2] >= 0;
  return labels;
}

}  // namespace fusescope
