#include "cache/timing_cache.h"

#include <unistd.h>

#include <atomic>

#include "base/files.h"
#include "cache/statement.h"

namespace fusescope {
namespace {

constexpr int kBusyMilliseconds = 2000;

std::atomic<bool> areNewTimesKept{true};
constexpr int kApplicationId = 0x46534331;  // "FSC1"

// `timings` and `measurements` are tables of earlier schemas, which stored only the least time. `series` and the
// columns after it are null if a time does not belong to a series.
constexpr const char* kSetUp =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "PRAGMA application_id=1179861809;"
    "DROP TABLE IF EXISTS timings;"
    "DROP TABLE IF EXISTS measurements;"
    "CREATE TABLE IF NOT EXISTS times(hash TEXT NOT NULL, key BLOB NOT NULL, ms REAL NOT NULL,"
    " median REAL NOT NULL, spread REAL NOT NULL, quiet INTEGER NOT NULL, day TEXT NOT NULL, series_hash TEXT, series "
    "BLOB, work REAL, traffic REAL,"
    " PRIMARY KEY(hash, key)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS times_by_series ON times(series_hash);";

/// Reads the columns ms, spread, day, median and quiet, which begin at `column`.
Measurement measurementAt(Statement& row, int column) {
  return {.ms = row.number(column),
          .spread = row.number(column + 1),
          .day = row.text(column + 2),
          .median = row.number(column + 3),
          .quiet = row.number(column + 4) != 0};
}

bool isOurs(sqlite3* database) {
  Statement id(database, "PRAGMA application_id");
  if (!id.ready() || id.step() != SQLITE_ROW) return false;
  const auto found = static_cast<int>(id.number(0));
  if (found != 0 && found != kApplicationId) return false;
  Statement check(database, "PRAGMA quick_check(1)");
  return check.ready() && check.step() == SQLITE_ROW && check.text(0) == "ok";
}

/// Opens and sets up the database. Returns null and sets `damaged` if the file is not an intact database of ours.
sqlite3* openDatabase(const std::filesystem::path& path, bool& damaged) {
  damaged = false;
  sqlite3* database = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(path.c_str(), &database, flags, nullptr) != SQLITE_OK) {
    sqlite3_close(database);
    return nullptr;
  }
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  if (isOurs(database) && sqlite3_exec(database, kSetUp, nullptr, nullptr, nullptr) == SQLITE_OK) return database;
  const int error = sqlite3_errcode(database) & 0xff;
  damaged = error != SQLITE_BUSY && error != SQLITE_LOCKED && error != SQLITE_READONLY && error != SQLITE_CANTOPEN;
  sqlite3_close(database);
  return nullptr;
}

Result<std::filesystem::path> moveAside(const std::filesystem::path& path) {
  const std::filesystem::path aside = path.string() + ".damaged-" + std::to_string(::getpid());
  std::error_code error;
  std::filesystem::rename(path, aside, error);
  if (error)
    return Diagnostic{.message = "is damaged and cannot be moved aside: " + error.message(),
                      .where = {.file = path.string()}};
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path.string() + suffix, error);
  return aside;
}

}  // namespace

Result<std::shared_ptr<TimingCache>> TimingCache::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  bool damaged = false;
  sqlite3* database = openDatabase(path, damaged);
  std::filesystem::path aside;
  if (database == nullptr && damaged) {
    aside = TRY(moveAside(path));
    database = openDatabase(path, damaged);
  }
  if (database == nullptr)
    return Diagnostic{.message = "cannot open the timing cache",
                      .where = {.file = path.string()},
                      .help = "Give another file, or none: builds then measure every tactic again."};
  std::shared_ptr<TimingCache> cache(new TimingCache(database));
  cache->m_movedAside = aside;
  return cache;
}

TimingCache::~TimingCache() {
  sqlite3_close(m_database);
}

std::optional<Measurement> TimingCache::find(std::string_view key) const {
  const std::lock_guard lock(m_mutex);
  Statement query(m_database, "SELECT ms, spread, day, median, quiet FROM times WHERE hash=?1 AND key=?2");
  if (!query.ready()) return std::nullopt;
  query.bindText(1, hashText(key).hex());
  query.bindBlob(2, key);
  if (query.step() != SQLITE_ROW) return std::nullopt;
  return measurementAt(query, 0);
}

void TimingCache::store(std::string_view key, const Measurement& measurement) {
  store(key, measurement, nullptr);
}

void TimingCache::store(std::string_view key, const Measurement& measurement, const Workload& workload) {
  store(key, measurement, &workload);
}

void TimingCache::store(std::string_view key, const Measurement& measurement, const Workload* workload) {
  if (!areNewTimesKept) return;
  const std::lock_guard lock(m_mutex);
  Statement insert(
      m_database,
      "INSERT OR REPLACE INTO times(hash, key, ms, spread, day, series_hash, series, work, traffic, median,"
      " quiet) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
  if (!insert.ready()) return;
  insert.bindText(1, hashText(key).hex());
  insert.bindBlob(2, key);
  insert.bindNumber(3, measurement.ms);
  insert.bindNumber(4, measurement.spread);
  insert.bindText(5, measurement.day);
  insert.bindNumber(10, measurement.median);
  insert.bindNumber(11, measurement.quiet ? 1 : 0);
  if (workload != nullptr) {
    insert.bindText(6, hashText(workload->series).hex());
    insert.bindBlob(7, workload->series);
    insert.bindNumber(8, workload->work);
    insert.bindNumber(9, workload->traffic);
  }
  insert.step();
}

std::vector<WorkSample> TimingCache::series(std::string_view series) const {
  const std::lock_guard lock(m_mutex);
  Statement query(m_database,
                  "SELECT work, traffic, ms, spread, day, median, quiet FROM times WHERE series_hash=?1 AND series=?2"
                  " ORDER BY hash, key");
  std::vector<WorkSample> samples;
  if (!query.ready()) return samples;
  query.bindText(1, hashText(series).hex());
  query.bindBlob(2, series);
  while (query.step() == SQLITE_ROW) samples.push_back({query.number(0), query.number(1), measurementAt(query, 2)});
  return samples;
}

std::size_t TimingCache::size() const {
  const std::lock_guard lock(m_mutex);
  Statement query(m_database, "SELECT count(*) FROM times");
  return query.step() == SQLITE_ROW ? static_cast<std::size_t>(query.number(0)) : 0;
}

void TimingCache::forEach(const std::function<void(std::string_view key, const Measurement& measured)>& take) const {
  const std::lock_guard lock(m_mutex);
  Statement query(m_database, "SELECT key, ms, spread, day, median, quiet FROM times");
  while (query.ready() && query.step() == SQLITE_ROW) take(query.blob(0), measurementAt(query, 1));
}

Result<std::size_t> TimingCache::clear() {
  const std::size_t before = size();
  const std::lock_guard lock(m_mutex);
  if (sqlite3_exec(m_database, "DELETE FROM times; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);", nullptr, nullptr,
                   nullptr) == SQLITE_OK)
    return before;
  return Diagnostic{.message = std::string("the measured times cannot be removed: ") + sqlite3_errmsg(m_database)};
}

Hash128 TimingCache::hash() const {
  const std::lock_guard lock(m_mutex);
  Statement query(m_database, "SELECT hash, ms FROM times ORDER BY hash, key");
  KeyBuilder key;
  while (query.step() == SQLITE_ROW) key.text(query.text(0)).number(query.number(1));
  return key.hash();
}

void keepNewTimes(bool areKept) {
  areNewTimesKept = areKept;
}

std::filesystem::path timingCachePath() {
  const auto folder = cacheFolder();
  return folder.ok() ? folder.value() / "timings.sqlite" : std::filesystem::path();
}

}  // namespace fusescope
