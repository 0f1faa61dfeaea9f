#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

struct sqlite3;

namespace fusescope {

/// A measured time, with what is needed to judge it and to predict others by it.
struct Measurement {
  double ms = 0;
  double spread = 0;  ///< relative, of the samples
  std::string day;    ///< "2026-11-21"
  double median = 0;  ///< of all samples; `ms` is of the fast ones
  bool quiet = true;  ///< nothing else wanted the machine
  bool operator==(const Measurement&) const = default;
};

/// What a measured step had to do. Times of one series are of the same sort of work, in different amounts.
struct Workload {
  std::string series;  ///< canonical bytes: machine, kind, type …
  double work = 0;     ///< operations
  double traffic = 0;  ///< bytes or elements moved
};

/// A measurement with the amounts it is of.
struct WorkSample {
  double work = 0, traffic = 0;
  Measurement measured;
};

/// Measurements by canonical key bytes, kept in a SQLite file (write-ahead log) that several processes may use at
/// once. Knows bytes, keys and numbers only. A key is found by its hash and compared whole. Thread-safe.
/// Losing it costs time, never a result: a write that fails is dropped. What earlier versions of the schema kept is
/// thrown away: some of it was measured on the emulator.
class TimingCache {
 public:
  /// Opens or makes the file. One that is not a database of ours, or is damaged, is moved aside (movedAside()) and a
  /// new one made. Errors: the folder cannot be written.
  static Result<std::shared_ptr<TimingCache>> open(const std::filesystem::path& path);
  ~TimingCache();
  TimingCache(const TimingCache&) = delete;
  TimingCache& operator=(const TimingCache&) = delete;

  std::optional<Measurement> find(std::string_view key) const;
  void store(std::string_view key, const Measurement& measurement);
  /// As above, and as a sample of its series.
  void store(std::string_view key, const Measurement& measurement, const Workload& workload);
  /// Everything stored of a series, in one fixed order.
  std::vector<WorkSample> series(std::string_view series) const;
  std::size_t size() const;  ///< entries
  Hash128 hash() const;      ///< of all entries: changes when one is added or changed
  /// Where a damaged file that stood here was moved; empty if there was none.
  const std::filesystem::path& movedAside() const { return m_movedAside; }

 private:
  explicit TimingCache(sqlite3* database) : m_database(database) {}
  void store(std::string_view key, const Measurement& measurement, const Workload* workload);
  sqlite3* m_database;
  std::filesystem::path m_movedAside;
  mutable std::mutex m_mutex;
};

}  // namespace fusescope
