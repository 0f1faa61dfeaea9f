#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

struct sqlite3;

namespace fusescope {

/// Measured times by canonical key bytes, kept in a SQLite file (write-ahead log) that several processes may use at
/// once. Knows bytes and keys only. A key is found by its hash and compared whole. Thread-safe.
/// Losing it costs time, never a result: a write that fails is dropped.
class TimingCache {
 public:
  /// Opens or makes the file. One that is not a database of ours, or is damaged, is moved aside (movedAside()) and a
  /// new one made. Errors: the folder cannot be written.
  static Result<std::shared_ptr<TimingCache>> open(const std::filesystem::path& path);
  ~TimingCache();
  TimingCache(const TimingCache&) = delete;
  TimingCache& operator=(const TimingCache&) = delete;

  std::optional<double> find(std::string_view key) const;
  void store(std::string_view key, double milliseconds);
  std::size_t size() const;  ///< entries
  Hash128 hash() const;      ///< of all entries: changes when one is added or changed
  /// Where a damaged file that stood here was moved; empty if there was none.
  const std::filesystem::path& movedAside() const { return m_movedAside; }

 private:
  explicit TimingCache(sqlite3* database) : m_database(database) {}
  sqlite3* m_database;
  std::filesystem::path m_movedAside;
  mutable std::mutex m_mutex;
};

}  // namespace fusescope
