#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "layout/level.h"

namespace fusescope {

/// Stores the layouts of levels, each under everything on which it depends: sizes, edges, order. A level that did not
/// change is not laid out again, whatever else changes in the picture. Keys are compared in full, so that levels are
/// never confused. The entry that was used longest ago is removed first. Not thread-safe.
class LevelCache {
 public:
  static constexpr std::size_t kBytes = 16 << 20;

  explicit LevelCache(std::size_t mostBytes = kBytes) : m_mostBytes(mostBytes) {}

  /// Returns null if there is no entry.
  std::shared_ptr<const LevelLayout> find(std::string_view key);
  /// Stores a layout, unless it alone would take more than half of the space.
  void keep(std::string key, std::shared_ptr<const LevelLayout> layout);

  std::size_t bytes() const { return m_bytes; }
  std::size_t size() const { return m_entries.size(); }
  std::size_t hits() const { return m_hits; }
  std::size_t misses() const { return m_misses; }  ///< the number of levels that were laid out

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const LevelLayout> layout;
    std::size_t bytes = 0;
  };
  void dropLast();

  const std::size_t m_mostBytes;
  std::size_t m_bytes = 0, m_hits = 0, m_misses = 0;
  std::list<Entry> m_entries;  ///< most recently used first; the keys of m_byKey are views of theirs
  std::unordered_map<std::string_view, std::list<Entry>::iterator> m_byKey;
};

/// Returns everything on which the layout of a level depends: its contents, the order of its ranks, and where it is
/// cut.
std::string levelKey(const LevelGraph& graph, const std::vector<std::vector<int>>& order,
                     const std::vector<int>& cuts = {});

}  // namespace fusescope
