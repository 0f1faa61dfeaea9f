#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "layout/level.h"

namespace fusescope {

/// Layouts of levels, each under all that it depends on: sizes, edges, order. A level that did not change is not laid
/// out again, whatever else of the picture did. Keys are compared whole, so that no two levels are ever mixed up. Those
/// used longest ago leave first. One thread at a time.
class LevelCache {
 public:
  static constexpr std::size_t kBytes = 16 << 20;

  explicit LevelCache(std::size_t mostBytes = kBytes) : m_mostBytes(mostBytes) {}

  /// Null if it is not here.
  std::shared_ptr<const LevelLayout> find(std::string_view key);
  /// Keeps it unless it alone would take more than half of the room.
  void keep(std::string key, std::shared_ptr<const LevelLayout> layout);

  std::size_t bytes() const { return m_bytes; }
  std::size_t size() const { return m_entries.size(); }
  std::size_t hits() const { return m_hits; }
  std::size_t misses() const { return m_misses; }  ///< that is, levels that were laid out

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const LevelLayout> layout;
    std::size_t bytes = 0;
  };
  void dropLast();

  const std::size_t m_mostBytes;
  std::size_t m_bytes = 0, m_hits = 0, m_misses = 0;
  std::list<Entry> m_entries;  ///< the latest first; keys are views of theirs
  std::unordered_map<std::string_view, std::list<Entry>::iterator> m_byKey;
};

/// All that the layout of a level depends on: what it holds, the order of its ranks, and where it is wrapped.
std::string levelKey(const LevelGraph& graph, const std::vector<std::vector<int>>& order,
                     const std::vector<int>& cuts = {});

}  // namespace fusescope
