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

/// What all scenes have of a cover and of the bodies in it, whatever is open in them: made once. Keeps the cover; the
/// fonts outlive it. Names and searches may be used by any thread, items are made by one at a time.
class CoverParts {
 public:
  /// `modules`: of the cover's model; null: no blocks.
  CoverParts(std::shared_ptr<const Cover> cover, const CanvasFonts& fonts, std::shared_ptr<const ModuleTree> modules);

  const Cover& cover() const { return *m_cover; }

  struct Level {
    std::unique_ptr<LevelParts> parts;
    int around = -1;  ///< the level that its holder is in; -1: it is the network
    NodeId holder;    ///< there
    std::string attribute;
  };
  /// The network first; bodies behind what is around them.
  const std::vector<Level>& levels() const { return m_levels; }
  /// The level of a body; -1: there is none.
  int levelOf(int around, NodeId holder, const std::string& attribute) const;

  /// Something with a name.
  enum class Kind : std::uint8_t { Handle, Block, Node, FusedName, Value, Module, Pill };
  struct Thing {
    Kind kind;
    std::uint32_t level;
    /// Handle and FusedName: of a fused node; Block, Module: of a block, or of a module that is none; Node and Value:
    /// ids; Pill: inputs, then outputs.
    std::uint32_t index;
  };
  /// What `name` stands for: the first of the kinds above, but for pills, that is called so.
  std::optional<Thing> find(std::string_view name) const;
  std::string nameOf(const Thing& thing) const;
  /// The handle of what is opened to see more of a thing, where its level is drawn: the fused node that holds it, or
  /// its own. Empty: a value, which is no part of one.
  QString handleOf(const Thing& thing) const;

  /// What a search looks at: inputs and outputs, then blocks, then nodes, level by level.
  std::size_t entryCount() const { return m_entries.size(); }
  Thing entry(std::size_t place) const { return thingOf(m_entries[place].thing); }
  /// All in lower case: its name, its operator, what it makes, what it comes from.
  std::string_view entryText(std::size_t place) const;

 private:
  /// Where ids of the things of a level begin, by kind.
  struct Ids {
    std::uint32_t begin[8] = {};  ///< the last: behind all of them
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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_byHash;  ///< hash of a name, id; sorted
  struct Entry {
    std::uint32_t thing, end;  ///< end: in m_text
  };
  std::vector<Entry> m_entries;
  std::string m_text;
};

}  // namespace fusescope
