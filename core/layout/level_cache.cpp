#include "layout/level_cache.h"

#include <limits>

namespace fusescope {
namespace {

std::size_t bytesOf(const LevelLayout& layout) {
  std::size_t bytes =
      sizeof(LevelLayout) + layout.entities.size() * sizeof(PlacedRect) + layout.columns.size() * sizeof(PlacedColumn);
  for (const PlacedEdge& edge : layout.edges) bytes += sizeof(PlacedEdge) + edge.points.size() * sizeof(PlacedPoint);
  return bytes;
}

template <class T>
void append(std::string& key, const T& number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

void append(std::string& key, const std::vector<int>& list) {
  append(key, list.size());
  key.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(int));
}

}  // namespace

std::shared_ptr<const LevelLayout> LevelCache::find(std::string_view key) {
  const auto found = m_byKey.find(key);
  if (found == m_byKey.end()) {
    ++m_misses;
    return nullptr;
  }
  ++m_hits;
  m_entries.splice(m_entries.begin(), m_entries, found->second);
  return found->second->layout;
}

void LevelCache::keep(std::string key, std::shared_ptr<const LevelLayout> layout) {
  const std::size_t bytes = key.size() + bytesOf(*layout) + sizeof(Entry);
  if (bytes > m_mostBytes / 2 || m_byKey.contains(key)) return;
  m_entries.push_front({std::move(key), std::move(layout), bytes});
  m_byKey.emplace(m_entries.front().key, m_entries.begin());
  m_bytes += bytes;
  while (m_bytes > m_mostBytes) dropLast();
}

void LevelCache::dropLast() {
  m_byKey.erase(m_entries.back().key);
  m_bytes -= m_entries.back().bytes;
  m_entries.pop_back();
}

std::string levelKey(const LevelGraph& graph, const std::vector<std::vector<int>>& order,
                     const std::vector<int>& cuts) {
  constexpr double kAnywhere = std::numeric_limits<double>::lowest();
  std::string key;
  append(key, graph.entities.size());
  for (const LevelEntity& entity : graph.entities) {
    append(key, entity.kind);
    append(key, entity.width);
    append(key, entity.height);
  }
  append(key, graph.edges.size());
  for (const LevelEdge& edge : graph.edges) {
    append(key, edge.from);
    append(key, edge.to);
    append(key, edge.fromX.value_or(kAnywhere));
    append(key, edge.toX.value_or(kAnywhere));
  }
  append(key, order.size());
  for (const std::vector<int>& rank : order) append(key, rank);
  append(key, cuts);
  return key;
}

}  // namespace fusescope
