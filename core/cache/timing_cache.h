#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "cache/kept_worth.h"
#include "cache/measurement.h"

struct sqlite3;

namespace fusescope {

/// The result of checking all times.
struct TimesCheck {
  std::int64_t times = 0;    ///< those that were read
  std::int64_t damaged = 0;  ///< the damaged ones among them, which were deleted
};

/// Measurements by canonical key, in a SQLite file (write-ahead log) that several processes may use at once. It knows
/// only bytes, keys and numbers. A key is found by its hash and compared in full. Thread-safe. A lost entry costs time
/// but never changes a result: a write that fails is dropped, and problem() says so. Each row has a hash, and a damaged
/// row is not found. Entries of earlier versions of the schema are deleted, because some of them were measured on the
/// emulator.
class TimingCache {
 public:
  /// Opens the file, or creates it. A file that is not our database, or is damaged, is renamed (movedAside()) and a new
  /// one is created. If the disk is full, the times are used, and new ones are not kept. Errors: the folder cannot be
  /// written; the file was written by a later version of Fusescope; another process prevents it.
  static Result<std::shared_ptr<TimingCache>> open(const std::filesystem::path& path);
  /// Opens the file for those who only want to know what is in it: it is neither created nor renamed. Errors: those of
  /// open(), and that the file is damaged.
  static Result<std::shared_ptr<TimingCache>> openKnown(const std::filesystem::path& path);
  ~TimingCache();
  TimingCache(const TimingCache&) = delete;
  TimingCache& operator=(const TimingCache&) = delete;

  /// Also takes the times of a team, and then keeps them, if shareWith() was called.
  std::optional<Measurement> find(std::string_view key) const;
  void store(std::string_view key, const Measurement& measurement);
  /// Stores a measurement also as a sample of its series.
  void store(std::string_view key, const Measurement& measurement, const Workload& workload);
  /// Returns all samples of a series, always in the same order.
  std::vector<WorkSample> series(std::string_view series) const;
  /// Makes `farther` the next level: times that are missing here are asked for there, and new ones are noted in it.
  /// It must exist as long as this object.
  void shareWith(FartherTimes* farther);
  FartherTimes* farther() const;  ///< null: there is none

  /// Returns the bytes of all times, and what they are worth.
  std::int64_t bytes() const;
  std::vector<KeptWorth> worths() const;
  /// Removes the times that are worth least until at most `most` bytes are left, and returns how many were removed.
  /// `limitOfAll` is the new limit of all that is kept, of which times take at most a part from now on.
  std::int64_t collectTo(std::int64_t most, std::int64_t limitOfAll);
  /// Returns how many bytes the times may take if all that is kept may take `limitOfAll`.
  static std::int64_t mostBytes(std::int64_t limitOfAll);

  std::size_t size() const;  ///< number of entries
  /// Calls `take` for every entry.
  void forEach(const std::function<void(std::string_view key, const Measurement& measured)>& take) const;
  /// Reads all entries, and deletes the damaged ones.
  TimesCheck verify();
  /// Removes all entries. Returns how many there were. Errors: they cannot be removed.
  Result<std::size_t> clear();
  Hash128 hash() const;  ///< hash of all entries; it changes when one is added or changed
  /// Returns the new path of a damaged file that was renamed; empty if there was none.
  const std::filesystem::path& movedAside() const { return m_movedAside; }
  /// Returns why new times are not kept, as a clause: "the disk is full". It is empty if they are.
  std::string problem() const;

 private:
  TimingCache(sqlite3* database, std::filesystem::path file) : m_database(database), m_file(std::move(file)) {}
  void noteProblem();
  std::optional<Measurement> findHere(std::string_view key) const;
  bool write(const KeptTime& time, bool replaces) const;
  std::int64_t evict(std::int64_t most);
  void settle();
  void store(std::string_view key, const Measurement& measurement, const Workload* workload);
  sqlite3* m_database;
  const std::filesystem::path m_file;
  bool m_isCopy = false;  ///< m_database is a copy in memory, because the disk is full
  std::string m_problem;
  std::filesystem::path m_movedAside;
  FartherTimes* m_farther = nullptr;
  bool m_hasNew = false;                 ///< a time was stored
  mutable std::set<std::string> m_used;  ///< hashes of the keys that were found
  /// Times of a team that are not kept here, because new times are not kept.
  mutable std::map<std::string, Measurement, std::less<>> m_onlyShared;
  mutable std::mutex m_mutex;
};

/// Says whether the timing caches of this process keep new times, which they do unless a program says otherwise.
void keepNewTimes(bool areKept);
bool keepsNewTimes();

/// Returns the file in which the measured times of this user are kept: `timings.sqlite` in the folder for caches. It is
/// empty if there is no such folder.
std::filesystem::path timingCachePath();

}  // namespace fusescope
