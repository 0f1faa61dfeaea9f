#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/tactic.h"
#include "engine/kernels/kernel.h"
#include "engine/tactics/measurer.h"

namespace fusescope {

/// What the builds of one network in this process have found out, for the builds that follow: the tactics of regions,
/// their times, and the kernels of the last builds. A build that has such a memory (BuildOptions::memory) compiles and
/// measures only regions that no build before it had, and otherwise makes the same engine as without. Everything is
/// found by canonical bytes of all that it depends on, compared whole. The memory is bounded, and is released with its
/// last owner. Thread-safe.
class BuildMemory {
 public:
  static constexpr std::size_t kMostEntries = 20'000;  ///< of each kind of entry
  /// `mostBytes` bounds the packed weights that are held although no engine may need them any more; 0: a part of the
  /// memory of this machine, at most 1 GiB.
  explicit BuildMemory(std::int64_t mostBytes = 0);

  using Tactics = std::shared_ptr<const std::vector<Tactic>>;
  /// Return what an earlier build found out, or nothing. An entry that is asked for is kept longer.
  Tactics tactics(const std::string& key);
  std::optional<KernelTime> time(const std::string& key);
  std::optional<double> conversionMs(const std::string& key);
  std::optional<double> onlyMs(const std::string& key);  ///< the time of a region that has one tactic
  void keepTactics(const std::string& key, Tactics tactics);
  void keepTime(const std::string& key, const KernelTime& time);
  void keepConversionMs(const std::string& key, double ms);
  void keepOnlyMs(const std::string& key, double ms);

  /// Returns whether an earlier build built a region with this key.
  bool wasBuilt(const std::string& key);
  /// Ends a build that succeeded: `regions` are the keys of its regions, `kernels` its kernels. Their code and weights
  /// are held within the bound, those of the latest builds before others.
  void endBuild(const std::set<std::string>& regions, const std::vector<std::shared_ptr<const Kernel>>& kernels);

  /// The amount that is held for later builds.
  struct Held {
    std::int64_t bytes = 0;  ///< of packed weights that are not parts of a mapped file
    std::size_t codes = 0, weights = 0;
  };
  Held held() const;

 private:
  /// Entries that know the build that used them last.
  template <class Value>
  class Entries {
   public:
    const Value* find(const std::string& key, std::int64_t build) {
      const auto found = m_all.find(key);
      if (found == m_all.end()) return nullptr;
      found->second.build = build;
      return &found->second.value;
    }
    void keep(const std::string& key, Value value, std::int64_t build) {
      m_all.insert_or_assign(key, Entry{std::move(value), build});
    }
    /// If there are too many, only those of the last two builds are kept.
    void bound(std::int64_t build) {
      if (m_all.size() > kMostEntries)
        std::erase_if(m_all, [&](const auto& entry) { return entry.second.build + 1 < build; });
      if (m_all.size() > kMostEntries) m_all.clear();
    }

   private:
    struct Entry {
      Value value;
      std::int64_t build = 0;
    };
    std::map<std::string, Entry> m_all;
  };
  /// A code or a weight.
  struct Part {
    std::shared_ptr<const Code> code;
    std::shared_ptr<const Packed> weight;
    std::int64_t build = 0;  ///< the last build that has it
    /// Returns the memory that it owns now: a weight may be packed at any time.
    std::int64_t bytes() const { return weight == nullptr ? 0 : bytesOf({weight}); }
  };

  std::int64_t heldBytes() const;
  void letGo();

  mutable std::mutex m_mutex;
  std::int64_t m_mostBytes = 0;
  std::int64_t m_build = 1;  ///< the number of the build that is under way
  Entries<Tactics> m_tactics;
  Entries<KernelTime> m_times;
  Entries<double> m_conversions, m_onlyMs;
  Entries<bool> m_built;
  std::map<const void*, Part> m_parts;  ///< by address
};

}  // namespace fusescope
