#include "cache/timing_cache.h"

#include <fmt/format.h>

#include <atomic>

#include "base/files.h"
#include "cache/database.h"
#include "cache/statement.h"

namespace fusescope {
namespace {

constexpr int kBusyMilliseconds = 2000;

std::atomic<bool> areNewTimesKept{true};
constexpr int kApplicationId = 0x46534331;  // "FSC1"
constexpr int kTimesVersion = 1;            // FORMAT.md

// `timings` and `measurements` are tables of earlier schemas, which stored only the least time. `series` and the
// columns after it are null if a time does not belong to a series.
constexpr const char* kSetUpTimes =
    "DROP TABLE IF EXISTS timings;"
    "DROP TABLE IF EXISTS measurements;"
    "CREATE TABLE IF NOT EXISTS times(hash TEXT NOT NULL, key BLOB NOT NULL, ms REAL NOT NULL,"
    " median REAL NOT NULL, spread REAL NOT NULL, quiet INTEGER NOT NULL, day TEXT NOT NULL, series_hash TEXT, series "
    "BLOB, work REAL, traffic REAL, row_hash TEXT, uses INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0,"
    " PRIMARY KEY(hash, key)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS times_by_series ON times(series_hash);"
    "PRAGMA application_id=1179861809;"
    "PRAGMA user_version=1;";

constexpr const char* kTimeColumns =
    "SELECT key, ms, spread, day, median, quiet, series, work, traffic, row_hash, hash FROM times ";

/// Returns the hash of everything in a row, by which a row that was damaged is recognised.
std::string rowHash(const KeptTime& time) {
  constexpr double kNoSign = 0.0;  // SQLite stores -0.0 as 0.0
  KeyBuilder row;
  row.text("fusescope.time.1").text(time.key).text(time.measured.day).number(time.measured.quiet ? 1 : 0);
  row.number(time.hasWorkload ? 1 : 0).text(time.workload.series);
  for (const double number :
       {time.measured.ms, time.measured.spread, time.measured.median, time.workload.work, time.workload.traffic})
    row.number(number + kNoSign);
  return row.hash().hex();
}

/// Reads a row of kTimeColumns. Returns nothing if the row is damaged. Rows of earlier programs have no hash, and are
/// taken as they are.
std::optional<KeptTime> keptTimeAt(Statement& row) {
  KeptTime time{.key = row.blob(0),
                .measured = {.ms = row.number(1),
                             .spread = row.number(2),
                             .day = row.text(3),
                             .median = row.number(4),
                             .quiet = row.number(5) != 0},
                .workload = {.series = row.blob(6), .work = row.number(7), .traffic = row.number(8)},
                .hasWorkload = !row.isNull(6)};
  const bool isIntact = row.isNull(9) || row.text(9) == rowHash(time);
  if (isIntact && row.text(10) == hashText(time.key).hex()) return time;
  return std::nullopt;
}

bool runScript(sqlite3* database, const char* text) {
  return sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK;
}

/// Reads the number in the first column of the only row of `query`. Returns nothing if SQLite failed.
std::optional<int> numberOf(sqlite3* database, const char* query) {
  Statement statement(database, query);
  if (!statement.ready() || statement.step() != SQLITE_ROW) return std::nullopt;
  return static_cast<int>(statement.whole(0));
}

/// Adds what is missing in a file of an earlier program, or in a new one. Returns false if SQLite failed.
bool setUpTimes(sqlite3* database) {
  if (!runScript(database, "PRAGMA journal_mode=WAL;BEGIN IMMEDIATE;")) return false;
  const auto columns = numberOf(database, "SELECT count(*) FROM pragma_table_info('times')");
  const auto hashes = numberOf(database, "SELECT count(*) FROM pragma_table_info('times') WHERE name='row_hash'");
  const bool lacksHash = columns.value_or(0) > 0 && hashes == 0;
  if (columns && hashes && (!lacksHash || runScript(database, "ALTER TABLE times ADD COLUMN row_hash TEXT")) &&
      runScript(database, kSetUpTimes) && runScript(database, "COMMIT"))
    return true;
  return false;
}

/// Adds what programs before the limit of bytes did not write. Their files keep the version, so that they can still use
/// them. On failure, uses are not counted.
void addUses(sqlite3* database) {
  if (numberOf(database, "SELECT count(*) FROM pragma_table_info('times') WHERE name='turn'") == 0) {
    runScript(database, "ALTER TABLE times ADD COLUMN uses INTEGER NOT NULL DEFAULT 0");
    runScript(database, "ALTER TABLE times ADD COLUMN turn INTEGER NOT NULL DEFAULT 0");
  }
  if (numberOf(database, "SELECT count(*) FROM sqlite_master WHERE name='settings'") == 0)
    runScript(database, "CREATE TABLE IF NOT EXISTS settings(name TEXT PRIMARY KEY, value INTEGER)");
}

/// A file that was opened, or why it was not.
struct OpenedTimes {
  sqlite3* database = nullptr;  ///< null: it cannot be used
  bool isDamaged = false;       ///< the file is not an intact database of ours
  std::string problem{};        ///< why it cannot be used, or why new times are not kept in it
};

/// Returns a copy in memory of a file on a full disk, so that its times are used.
OpenedTimes openFullDisk(const std::filesystem::path& path, std::string problem) {
  sqlite3* copy = copyInMemory(path);
  if (copy == nullptr) return {.problem = std::move(problem)};
  if (numberOf(copy, "PRAGMA user_version") == kTimesVersion) return {.database = copy, .problem = std::move(problem)};
  sqlite3_close(copy);
  return {.problem = std::move(problem)};
}

OpenedTimes openTimes(const std::filesystem::path& path, int flags) {
  sqlite3* database = nullptr;
  const auto closed = [&](bool isDamaged, std::string problem) {
    sqlite3_close(database);
    return OpenedTimes{.isDamaged = isDamaged, .problem = std::move(problem)};
  };
  const auto failed = [&] {
    const DatabaseFault fault = faultOf(database, path);
    OpenedTimes none = closed(fault == DatabaseFault::Damaged, faultInWords(database, path));
    return fault == DatabaseFault::Full ? openFullDisk(path, std::move(none.problem)) : none;
  };
  if (sqlite3_open_v2(path.c_str(), &database, flags | SQLITE_OPEN_FULLMUTEX, nullptr) != SQLITE_OK) return failed();
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  const auto id = numberOf(database, "PRAGMA application_id");
  if (!id) return failed();
  if (*id != 0 && *id != kApplicationId) return closed(true, "the file is not a database of measured times");
  const auto version = numberOf(database, "PRAGMA user_version");
  if (!version) return failed();
  if (*version > kTimesVersion) return closed(false, "the file was written by a later version of Fusescope");
  {
    Statement check(database, "PRAGMA quick_check(1)");
    if (!check.ready() || check.step() != SQLITE_ROW) return failed();
    if (check.text(0) != "ok") return closed(true, "the file is damaged");
  }
  if (*version < kTimesVersion && !setUpTimes(database)) return failed();
  addUses(database);
  if (!runScript(database, "PRAGMA synchronous=NORMAL")) return failed();
  return {.database = database};
}

/// Returns a name that no file has, for a damaged file.
std::filesystem::path freeNameBeside(const std::filesystem::path& path) {
  std::error_code unknown;
  for (int i = 1;; ++i) {
    std::filesystem::path free = fmt::format("{}.damaged-{}", path.string(), i);
    if (!std::filesystem::exists(std::filesystem::symlink_status(free, unknown)) &&
        !std::filesystem::exists(std::filesystem::symlink_status(free.string() + "-wal", unknown)))
      return free;
  }
}

/// Renames a damaged file together with its log, which may contain times that the file does not have.
Result<std::filesystem::path> moveAside(const std::filesystem::path& path) {
  const std::filesystem::path aside = freeNameBeside(path);
  std::error_code error, ignored;
  std::filesystem::rename(path, aside, error);
  if (error)
    return Diagnostic{.message = "is damaged and cannot be moved aside: " + error.message(),
                      .where = {.file = path.string()}};
  std::filesystem::rename(path.string() + "-wal", aside.string() + "-wal", ignored);
  std::filesystem::remove(path.string() + "-shm", ignored);
  return aside;
}

Diagnostic cannotBeUsed(const std::filesystem::path& path, const std::string& problem) {
  return Diagnostic{.message = "the measured times cannot be used: " + problem,
                    .where = {.file = path.string()},
                    .help = "Give another file, or none: builds then measure every tactic again."};
}

}  // namespace

Result<std::shared_ptr<TimingCache>> TimingCache::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  OpenedTimes opened = openTimes(path, kFlags);
  std::filesystem::path aside;
  if (opened.isDamaged) {
    aside = TRY(moveAside(path));
    opened = openTimes(path, kFlags);
  }
  if (opened.database == nullptr) return cannotBeUsed(path, opened.problem);
  std::shared_ptr<TimingCache> cache(new TimingCache(opened.database, path));
  cache->m_movedAside = aside;
  cache->m_problem = opened.problem;
  cache->m_isCopy = !opened.problem.empty();
  return cache;
}

Result<std::shared_ptr<TimingCache>> TimingCache::openKnown(const std::filesystem::path& path) {
  OpenedTimes opened = openTimes(path, SQLITE_OPEN_READWRITE);
  if (opened.isDamaged) opened.problem += ", and the next build moves it aside";
  if (opened.database == nullptr) return cannotBeUsed(path, opened.problem);
  std::shared_ptr<TimingCache> cache(new TimingCache(opened.database, path));
  cache->m_problem = opened.problem;
  cache->m_isCopy = !opened.problem.empty();
  return cache;
}

TimingCache::~TimingCache() {
  if (m_farther != nullptr) m_farther->write();
  settle();
  sqlite3_close(m_database);
}

std::optional<Measurement> TimingCache::findHere(std::string_view key) const {
  const std::lock_guard lock(m_mutex);
  if (const auto found = m_onlyShared.find(key); found != m_onlyShared.end()) return found->second;
  const std::string text = std::string(kTimeColumns) + "WHERE hash=?1 AND key=?2";
  Statement query(m_database, text.c_str());
  if (!query.ready()) return std::nullopt;
  const std::string hash = hashText(key).hex();
  query.bindText(1, hash);
  query.bindBlob(2, key);
  if (query.step() != SQLITE_ROW) return std::nullopt;
  const auto time = keptTimeAt(query);
  if (time) m_used.insert(hash);
  return time ? std::optional(time->measured) : std::nullopt;
}

std::optional<Measurement> TimingCache::find(std::string_view key) const {
  if (auto found = findHere(key)) return found;
  const std::vector<KeptTime> known = m_farther != nullptr ? m_farther->ask(key) : std::vector<KeptTime>();
  if (known.empty()) return std::nullopt;
  {
    const std::lock_guard lock(m_mutex);
    for (const KeptTime& time : known)
      if (!areNewTimesKept || !write(time, false)) m_onlyShared.emplace(time.key, time.measured);
  }
  return findHere(key);
}

void TimingCache::store(std::string_view key, const Measurement& measurement) {
  store(key, measurement, nullptr);
}

void TimingCache::store(std::string_view key, const Measurement& measurement, const Workload& workload) {
  store(key, measurement, &workload);
}

void TimingCache::store(std::string_view key, const Measurement& measurement, const Workload* workload) {
  if (!areNewTimesKept) return;
  const KeptTime time{.key = std::string(key),
                      .measured = measurement,
                      .workload = workload != nullptr ? *workload : Workload(),
                      .hasWorkload = workload != nullptr};
  if (m_farther != nullptr) m_farther->note(time);
  const std::lock_guard lock(m_mutex);
  m_hasNew = true;
  m_onlyShared.erase(time.key);
  if (!write(time, true)) noteProblem();
}

/// Returns false if SQLite failed. A time that is replaced passes on how often it was used.
bool TimingCache::write(const KeptTime& time, bool replaces) const {
  const std::string text = fmt::format(
      "INSERT OR {} INTO times(hash, key, ms, spread, day, series_hash, series, work, traffic, median,"
      " quiet, row_hash, uses, turn) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
      " ifnull((SELECT uses FROM times WHERE hash=?1 AND key=?2), 0),"
      " ifnull((SELECT value FROM settings WHERE name='turn'), 0))",
      replaces ? "REPLACE" : "IGNORE");
  Statement insert(m_database, text.c_str());
  if (!insert.ready()) return false;
  insert.bindText(1, hashText(time.key).hex());
  insert.bindBlob(2, time.key);
  insert.bindNumber(3, time.measured.ms);
  insert.bindNumber(4, time.measured.spread);
  insert.bindText(5, time.measured.day);
  insert.bindNumber(10, time.measured.median);
  insert.bindNumber(11, time.measured.quiet ? 1 : 0);
  insert.bindText(12, rowHash(time));
  if (time.hasWorkload) {
    insert.bindText(6, hashText(time.workload.series).hex());
    insert.bindBlob(7, time.workload.series);
    insert.bindNumber(8, time.workload.work);
    insert.bindNumber(9, time.workload.traffic);
  }
  return insert.run();
}

void TimingCache::noteProblem() {
  if (!m_isCopy) m_problem = faultInWords(m_database, m_file);
}

std::string TimingCache::problem() const {
  const std::lock_guard lock(m_mutex);
  return m_problem;
}

std::vector<WorkSample> TimingCache::series(std::string_view series) const {
  const std::lock_guard lock(m_mutex);
  const std::string text = std::string(kTimeColumns) + "WHERE series_hash=?1 AND series=?2 ORDER BY hash, key";
  Statement query(m_database, text.c_str());
  std::vector<WorkSample> samples;
  if (!query.ready()) return samples;
  query.bindText(1, hashText(series).hex());
  query.bindBlob(2, series);
  while (query.step() == SQLITE_ROW)
    if (const auto time = keptTimeAt(query))
      samples.push_back({time->workload.work, time->workload.traffic, time->measured});
  return samples;
}

std::size_t TimingCache::size() const {
  const std::lock_guard lock(m_mutex);
  Statement query(m_database, "SELECT count(*) FROM times");
  return query.step() == SQLITE_ROW ? static_cast<std::size_t>(query.number(0)) : 0;
}

void TimingCache::forEach(const std::function<void(std::string_view key, const Measurement& measured)>& take) const {
  const std::lock_guard lock(m_mutex);
  Statement query(m_database, kTimeColumns);
  while (query.step() == SQLITE_ROW)
    if (const auto time = keptTimeAt(query)) take(time->key, time->measured);
}

TimesCheck TimingCache::verify() {
  const std::lock_guard lock(m_mutex);
  TimesCheck check;
  std::vector<std::string> damaged;
  {
    Statement query(m_database, kTimeColumns);
    for (; query.step() == SQLITE_ROW; ++check.times)
      if (!keptTimeAt(query)) damaged.push_back(query.blob(0));
  }
  for (const std::string& key : damaged) {
    Statement erase(m_database, "DELETE FROM times WHERE key=?1");
    erase.bindBlob(1, key);
    if (!erase.run()) noteProblem();
  }
  check.damaged = std::ssize(damaged);
  return check;
}

Result<std::size_t> TimingCache::clear() {
  const std::size_t before = size();
  const std::lock_guard lock(m_mutex);
  if (!m_isCopy && runScript(m_database, "DELETE FROM times; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")) return before;
  return Diagnostic{
      .message = "the measured times cannot be removed: " + (m_isCopy ? m_problem : faultInWords(m_database, m_file)),
      .where = {.file = m_file.string()}};
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

bool keepsNewTimes() {
  return areNewTimesKept;
}

std::filesystem::path timingCachePath() {
  const auto folder = cacheFolder();
  return folder.ok() ? folder.value() / "timings.sqlite" : std::filesystem::path();
}

}  // namespace fusescope
