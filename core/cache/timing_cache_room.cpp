#include <sqlite3.h>

#include <algorithm>

#include "cache/statement.h"
#include "cache/timing_cache.h"

// How TimingCache counts uses, and removes the times that are worth least.
namespace fusescope {
namespace {

/// The limit in bytes if none was set, which is that of the store (DiskStore::kUsualLimit).
constexpr std::int64_t kUsualLimitOfAll = std::int64_t{4} << 30;
constexpr double kTurnsToFade = 16;
/// The bytes of a row, with what SQLite stores beside the texts.
constexpr const char* kRows =
    "SELECT hash, key, ms, uses, turn, length(hash) + length(key) + ifnull(length(series), 0) +"
    " ifnull(length(series_hash), 0) + 120 FROM times";

struct Row {
  std::string hash, key;
  KeptWorth worth;
};

std::int64_t settingIn(sqlite3* database, std::string_view name, std::int64_t otherwise) {
  Statement query(database, "SELECT value FROM settings WHERE name=?1");
  query.bindText(1, name);
  return query.step() == SQLITE_ROW ? query.whole(0) : otherwise;
}

std::vector<Row> rowsByWorth(sqlite3* database) {
  const std::int64_t turn = settingIn(database, "turn", 0);
  std::vector<Row> rows;
  Statement query(database, kRows);
  while (query.step() == SQLITE_ROW) {
    Row row{.hash = query.text(0), .key = query.blob(1), .worth = {.bytes = query.whole(5)}};
    const double saved = msToMeasure({.ms = query.number(2)}) * (1 + query.number(3));
    const double fading = 1 + static_cast<double>(std::max<std::int64_t>(turn - query.whole(4), 0)) / kTurnsToFade;
    row.worth.perByte = saved / fading / static_cast<double>(row.worth.bytes);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.worth.perByte; });
  return rows;
}

bool execute(sqlite3* database, const char* text) {
  return sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace

std::int64_t TimingCache::mostBytes(std::int64_t limitOfAll) {
  return limitOfAll / 2;
}

std::int64_t TimingCache::bytes() const {
  const std::lock_guard lock(m_mutex);
  std::int64_t bytes = 0;
  for (const Row& row : rowsByWorth(m_database)) bytes += row.worth.bytes;
  return bytes;
}

std::vector<KeptWorth> TimingCache::worths() const {
  const std::lock_guard lock(m_mutex);
  std::vector<KeptWorth> worths;
  for (const Row& row : rowsByWorth(m_database)) worths.push_back(row.worth);
  return worths;
}

std::int64_t TimingCache::evict(std::int64_t most) {
  const std::vector<Row> rows = rowsByWorth(m_database);
  std::int64_t bytes = 0, gone = 0;
  for (const Row& row : rows) bytes += row.worth.bytes;
  if (bytes <= most || !execute(m_database, "BEGIN IMMEDIATE")) return 0;
  for (const Row& row : rows) {
    if (bytes <= most) break;
    Statement erase(m_database, "DELETE FROM times WHERE hash=?1 AND key=?2");
    erase.bindText(1, row.hash);
    erase.bindBlob(2, row.key);
    if (!erase.run()) break;
    bytes -= row.worth.bytes;
    ++gone;
  }
  if (execute(m_database, "COMMIT")) return gone;
  execute(m_database, "ROLLBACK");
  return 0;
}

std::int64_t TimingCache::collectTo(std::int64_t most, std::int64_t limitOfAll) {
  const std::lock_guard lock(m_mutex);
  if (m_isCopy) return 0;
  {
    Statement set(m_database, "INSERT OR REPLACE INTO settings(name, value) VALUES('limit', ?1)");
    set.bindWhole(1, limitOfAll);
    if (!set.run()) noteProblem();
  }
  const std::int64_t gone = evict(most);
  if (gone > 0) execute(m_database, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
  return gone;
}

/// Counts the uses of this process, and removes times if there are too many. Losing that costs nothing but room.
void TimingCache::settle() {
  const std::lock_guard lock(m_mutex);
  if (m_isCopy || !keepsNewTimes()) return;
  if (!m_used.empty() && execute(m_database, "BEGIN IMMEDIATE")) {
    execute(m_database,
            "INSERT INTO settings(name, value) VALUES('turn', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1");
    const std::int64_t turn = settingIn(m_database, "turn", 0);
    for (const std::string& hash : m_used) {
      Statement count(m_database, "UPDATE times SET uses = uses + 1, turn = ?1 WHERE hash = ?2");
      count.bindWhole(1, turn);
      count.bindText(2, hash);
      count.run();
    }
    execute(m_database, "COMMIT");
  }
  if (!m_hasNew) return;
  Statement pages(m_database, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
  const std::int64_t file = pages.step() == SQLITE_ROW ? pages.whole(0) : 0;
  const std::int64_t most = mostBytes(settingIn(m_database, "limit", kUsualLimitOfAll));
  if (file > most) evict(most);
}

void TimingCache::shareWith(FartherTimes* farther) {
  m_farther = farther;
}

FartherTimes* TimingCache::farther() const {
  return m_farther;
}

}  // namespace fusescope
