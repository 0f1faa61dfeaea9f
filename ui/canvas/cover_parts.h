#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/canvas/level_parts.h"

namespace fusescope {

/// The data of a cover and its bodies that all scenes share, whatever is open in them. It is computed once, and keeps
/// the cover; the fonts must outlive it. Any thread may use names and searches; items must be made by one thread at a
/// time.
class CoverParts {
 public:
  /// `modules` are those of the cover's model; null: no blocks.
  CoverParts(std::shared_ptr<const Cover> cover, const CanvasFonts& fonts, std::shared_ptr<const ModuleTree> modules);

  const Cover& cover() const { return *m_cover; }

  struct Level {
    std::unique_ptr<LevelParts> parts;
    int around = -1;  ///< the level of its holder; -1: this is the network
    NodeId holder;    ///< the holder in that level
    std::string attribute;
  };
  /// Returns the network first, then the bodies, each after the level around it.
  const std::vector<Level>& levels() const { return m_levels; }
  /// Returns the level of a body; -1: there is none.
  int levelOf(int around, NodeId holder, const std::string& attribute) const;

  /// Something with a name.
  enum class Kind : std::uint8_t { Handle, Block, Node, FusedName, Value, Module, Pill };
  struct Thing {
    Kind kind;
    std::uint32_t level;
    /// For Handle and FusedName the index of a fused node; for Block that of a block; for Module that of a module that
    /// is not a block; for Node and Value the id; for Pill that of an input, then of an output.
    std::uint32_t index;
  };
  /// Returns the thing that `name` refers to: the first with that name in the order of the kinds above, without pills.
  std::optional<Thing> find(std::string_view name) const;
  std::string nameOf(const Thing& thing) const;
  /// Returns the handle of what must be opened to see more of a thing: the fused node that contains it, or its own.
  /// Empty for a value, which is in no fused node.
  QString handleOf(const Thing& thing) const;

  /// Returns the number of entries for a search: inputs and outputs, then blocks, then nodes, level by level.
  std::size_t entryCount() const { return m_entries.size(); }
  Thing entry(std::size_t place) const { return thingOf(m_entries[place].thing); }
  /// Returns the text of an entry in lower case: its name, its operator, its results, its origins.
  std::string_view entryText(std::size_t place) const;

 private:
  /// The first id of each kind of things of a level.
  struct Ids {
    std::uint32_t begin[8] = {};  ///< the last entry is the end of all ids
  };
  void addLevel(const Cover& cover, const BodyPath& path, std::shared_ptr<const ModuleTree> modules, Level level,
                const CanvasFonts& fonts);
  void addIds(const LevelParts& parts);
  void addNames(std::uint32_t level);
  void addEntries(std::uint32_t level);
  void addEntry(std::uint32_t level, Kind kind, std::uint32_t index, const std::string& text);
  std::uint32_t idOf(std::uint32_t level, Kind kind, std::uint32_t index) const {
    return m_ids[level].begin[std::size_t(kind)] + index;
  }
  Thing thingOf(std::uint32_t id) const;
  void addName(std::string_view name, std::uint32_t id);

  const std::shared_ptr<const Cover> m_cover;
  std::vector<Level> m_levels;
  std::vector<Ids> m_ids;                                         ///< by level
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_byHash;  ///< pairs of the hash of a name and an id, sorted
  struct Entry {
    std::uint32_t thing, end;  ///< end: the end of the name in m_text
  };
  std::vector<Entry> m_entries;
  std::string m_text;
};

}  // namespace fusescope
