#pragma once

#include <filesystem>
#include <functional>
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

/// A measured time, with the facts that are needed to judge it and to predict other times from it.
struct Measurement {
  double ms = 0;
  double spread = 0;  ///< relative, of the samples
  std::string day;    ///< "2026-11-21"
  double median = 0;  ///< median of all samples, while `ms` is computed from the fastest ones
  bool quiet = true;  ///< nothing else used the machine
  bool operator==(const Measurement&) const = default;
};

/// The amount of work of a measured step. Times of one series are for the same kind of work in different amounts.
struct Workload {
  std::string series;  ///< canonical bytes of machine, kind, type …
  double work = 0;     ///< operations
  double traffic = 0;  ///< bytes or elements moved
};

/// A measurement and its amount of work.
struct WorkSample {
  double work = 0, traffic = 0;
  Measurement measured;
};

/// Measurements by canonical key, in a SQLite file (write-ahead log) that several processes may use at once. It knows
/// only bytes, keys and numbers. A key is found by its hash and compared in full. Thread-safe. A lost entry costs time
/// but never changes a result: a write that fails is dropped. Entries of earlier versions of the schema are deleted,
/// because some of them were measured on the emulator.
class TimingCache {
 public:
  /// Opens the file, or creates it. A file that is not our database, or is damaged, is renamed (movedAside()) and a new
  /// one is created. Errors: the folder cannot be written.
  static Result<std::shared_ptr<TimingCache>> open(const std::filesystem::path& path);
  ~TimingCache();
  TimingCache(const TimingCache&) = delete;
  TimingCache& operator=(const TimingCache&) = delete;

  std::optional<Measurement> find(std::string_view key) const;
  void store(std::string_view key, const Measurement& measurement);
  /// Stores a measurement also as a sample of its series.
  void store(std::string_view key, const Measurement& measurement, const Workload& workload);
  /// Returns all samples of a series, always in the same order.
  std::vector<WorkSample> series(std::string_view series) const;
  std::size_t size() const;  ///< number of entries
  /// Calls `take` for every entry.
  void forEach(const std::function<void(std::string_view key, const Measurement& measured)>& take) const;
  /// Removes all entries. Returns how many there were. Errors: they cannot be removed.
  Result<std::size_t> clear();
  Hash128 hash() const;  ///< hash of all entries; it changes when one is added or changed
  /// Returns the new path of a damaged file that was renamed; empty if there was none.
  const std::filesystem::path& movedAside() const { return m_movedAside; }

 private:
  explicit TimingCache(sqlite3* database) : m_database(database) {}
  void store(std::string_view key, const Measurement& measurement, const Workload* workload);
  sqlite3* m_database;
  std::filesystem::path m_movedAside;
  mutable std::mutex m_mutex;
};

/// Says whether the timing caches of this process keep new times, which they do unless a program says otherwise.
void keepNewTimes(bool areKept);

/// Returns the file in which the measured times of this user are kept: `timings.sqlite` in the folder for caches. It is
/// empty if there is no such folder.
std::filesystem::path timingCachePath();

}  // namespace fusescope
