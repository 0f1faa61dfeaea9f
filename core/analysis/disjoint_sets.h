#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace fusescope {

/// Disjoint sets that can be united (union-find); find() and unite() take almost constant time. At first, each number
/// below `count` is a set of its own.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : m_parent(count) { std::iota(m_parent.begin(), m_parent.end(), 0U); }
  std::uint32_t find(std::uint32_t i) {
    while (m_parent[i] != i) i = m_parent[i] = m_parent[m_parent[i]];
    return i;
  }
  void unite(std::uint32_t i, std::uint32_t j) {
    const auto a = find(i), b = find(j);
    m_parent[std::max(a, b)] = std::min(a, b);  // the smallest number represents the set
  }

 private:
  std::vector<std::uint32_t> m_parent;
};

}  // namespace fusescope
