#include "cache/store_index.h"

#include <fmt/format.h>

#include <charconv>

#include "cache/database.h"
#include "cache/statement.h"

namespace fusescope {
namespace {

constexpr int kPatienceMs = 2000;
constexpr int kIndexId = 0x46534b31;  // "FSK1"
constexpr int kIndexVersion = 1;      // FORMAT.md

constexpr const char* kSetUpIndex =
    "PRAGMA synchronous=NORMAL;"
    "BEGIN IMMEDIATE;"
    "PRAGMA application_id=1179863857;"
    "PRAGMA user_version=1;"
    "CREATE TABLE IF NOT EXISTS entries(kind TEXT NOT NULL, hash TEXT NOT NULL, key BLOB NOT NULL, blob TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, stored INTEGER NOT NULL, content TEXT NOT NULL, about TEXT NOT NULL,"
    " made_at INTEGER NOT NULL, made_by TEXT NOT NULL, made_ms REAL NOT NULL, hits INTEGER NOT NULL,"
    " saved_ms REAL NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY(kind, hash, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS settings(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "COMMIT;";
// Earlier programs with this version of the index do not know this table and ignore it.
constexpr const char* kSetUpKinds =
    "CREATE TABLE IF NOT EXISTS kinds(kind TEXT NOT NULL, machine TEXT NOT NULL, loads INTEGER NOT NULL,"
    " fixed_ms REAL, ms_per_byte REAL, not_kept INTEGER NOT NULL, not_kept_ms REAL NOT NULL,"
    " PRIMARY KEY(kind, machine)) WITHOUT ROWID;";

constexpr const char* kColumns =
    "SELECT kind, key, blob, bytes, stored, content, about, made_at, made_by, made_ms, hits, saved_ms, turn"
    " FROM entries ";

int pragma(sqlite3* database, const char* text, bool& isRead) {
  Statement query(database, text);
  isRead = query.ready() && query.step() == SQLITE_ROW;
  return isRead ? static_cast<int>(query.whole(0)) : 0;
}

/// Parses the digits that Hash128::hex() returns. For other texts it returns zero, which is the hash of no blob.
Hash128 hashFromDigits(std::string_view digits) {
  Hash128 hash;
  if (digits.size() != 32) return hash;
  std::from_chars(digits.data(), digits.data() + 16, hash.high, 16);
  std::from_chars(digits.data() + 16, digits.data() + 32, hash.low, 16);
  return hash;
}

StoreEntry entryAt(Statement& row) {
  StoreEntry entry{.facts = {.kind = row.text(0), .about = row.text(6), .madeBy = row.text(8), .madeMs = row.number(9)},
                   .key = row.blob(1),
                   .blob = row.text(2),
                   .size = {.bytes = static_cast<std::uint64_t>(row.whole(3)),
                            .stored = static_cast<std::uint64_t>(row.whole(4)),
                            .content = hashFromDigits(row.text(5)),
                            .key = {}},
                   .madeAt = row.whole(7),
                   .hits = row.whole(10),
                   .savedMs = row.number(11),
                   .turn = row.whole(12)};
  entry.size.key = hashText(entry.facts.kind + '\0' + entry.key);
  return entry;
}

}  // namespace

StoreIndex::~StoreIndex() {
  close();
}

void StoreIndex::close() {
  sqlite3_close(m_database);
  m_database = nullptr;
  m_isCopy = false;
}

void StoreIndex::note() {
  const DatabaseFault fault = faultOf(m_database, m_path);
  m_isDamaged |= fault == DatabaseFault::Damaged;
  m_isFull = fault == DatabaseFault::Full;
  m_problem = faultInWords(m_database, m_path);
}

/// Closes a file that SQLite could not use. If the disk is full, a copy of it is opened.
IndexState StoreIndex::closedAfterFault(const std::filesystem::path& path) {
  close();
  if (m_isDamaged) return IndexState::Foreign;
  if (!m_isFull) return IndexState::Busy;
  m_database = copyInMemory(path);
  bool isIdRead = false, isVersionRead = false;
  if (m_database == nullptr || pragma(m_database, "PRAGMA application_id", isIdRead) != kIndexId ||
      pragma(m_database, "PRAGMA user_version", isVersionRead) != kIndexVersion)
    close();
  m_isCopy = m_database != nullptr;
  return IndexState::Full;
}

bool StoreIndex::run(const char* text) {
  const bool isDone = sqlite3_exec(m_database, text, nullptr, nullptr, nullptr) == SQLITE_OK;
  if (!isDone) note();
  return isDone;
}

IndexState StoreIndex::open(const std::filesystem::path& path) {
  close();
  m_isDamaged = m_isFull = false;
  m_path = path;
  m_problem.clear();
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const auto closed = [this](IndexState state) {
    close();
    return state;
  };
  if (sqlite3_open_v2(path.c_str(), &m_database, flags, nullptr) != SQLITE_OK) {
    note();
    return closedAfterFault(path);
  }
  sqlite3_busy_timeout(m_database, kPatienceMs);
  // Both queries are in one transaction, so that an index that another process is just creating is seen either empty or
  // complete.
  bool areRead = run("BEGIN");
  const auto read = [&](const char* text) {
    bool isRead = false;
    const int value = pragma(m_database, text, isRead);
    if (!isRead) note();
    areRead &= isRead;
    return value;
  };
  const int id = read("PRAGMA application_id"), version = read("PRAGMA user_version");
  const bool isEmpty = read("SELECT count(*) FROM sqlite_master") == 0;
  if (!areRead) return closedAfterFault(path);
  run("ROLLBACK");
  if (!isEmpty || id != 0) {
    if (id != kIndexId) return closed(IndexState::Foreign);
    if (version > kIndexVersion) return closed(IndexState::Newer);
    if (version < kIndexVersion) return closed(IndexState::Older);
    run("PRAGMA synchronous=NORMAL");
    if (read("SELECT count(*) FROM sqlite_master WHERE name='kinds'") == 0) run(kSetUpKinds);
    return IndexState::Sound;
  }
  run("PRAGMA journal_mode=WAL");
  if (run(kSetUpIndex)) {
    run(kSetUpKinds);
    return IndexState::Sound;
  }
  return closedAfterFault(path);
}

std::optional<StoreEntry> StoreIndex::find(std::string_view kind, std::string_view key) {
  const std::string text = std::string(kColumns) + "WHERE kind=?1 AND hash=?2 AND key=?3";
  Statement query(m_database, text.c_str());
  if (query.ready()) {
    query.bindText(1, kind);
    query.bindText(2, hashText(key).hex());
    query.bindBlob(3, key);
    const int step = query.step();
    if (step == SQLITE_ROW) return entryAt(query);
    if (step == SQLITE_DONE) return std::nullopt;
  }
  note();
  return std::nullopt;
}

bool StoreIndex::put(const StoreEntry& entry, const OnWritePhase& onPhase, std::string& replaced) {
  if (!run("BEGIN IMMEDIATE")) return false;
  const auto former = find(entry.facts.kind, entry.key);
  const auto write = [&] {
    Statement insert(
        m_database,
        "INSERT OR REPLACE INTO entries(kind, hash, key, blob, bytes, stored, content, about, made_at,"
        " made_by, made_ms, hits, saved_ms, turn) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
        " ?13, ?14)");
    if (!insert.ready()) return false;
    insert.bindText(1, entry.facts.kind);
    insert.bindText(2, hashText(entry.key).hex());
    insert.bindBlob(3, entry.key);
    insert.bindText(4, entry.blob);
    insert.bindWhole(5, static_cast<std::int64_t>(entry.size.bytes));
    insert.bindWhole(6, static_cast<std::int64_t>(entry.size.stored));
    insert.bindText(7, entry.size.content.hex());
    insert.bindText(8, entry.facts.about);
    insert.bindWhole(9, entry.madeAt);
    insert.bindText(10, entry.facts.madeBy);
    insert.bindNumber(11, entry.facts.madeMs);
    insert.bindWhole(12, former ? former->hits : 0);
    insert.bindNumber(13, former ? former->savedMs : 0);
    insert.bindWhole(14, turn() + 1);
    return insert.run();
  };
  if (write() && (!onPhase || onPhase(WritePhase::Listed).ok()) && run("COMMIT")) {
    if (former) replaced = former->blob;
    return true;
  }
  note();
  run("ROLLBACK");
  return false;
}

void StoreIndex::used(const StoreEntry& entry, double savedMs) {
  Statement update(m_database,
                   "UPDATE entries SET hits=hits+1, saved_ms=saved_ms+?1, turn=(SELECT max(turn)+1 FROM entries)"
                   " WHERE kind=?2 AND hash=?3 AND key=?4");
  if (!update.ready()) return;
  update.bindNumber(1, savedMs);
  update.bindText(2, entry.facts.kind);
  update.bindText(3, hashText(entry.key).hex());
  update.bindBlob(4, entry.key);
  update.run();
}

bool StoreIndex::remove(const StoreEntry& entry) {
  m_isFull = false;
  Statement erase(m_database, "DELETE FROM entries WHERE kind=?1 AND hash=?2 AND key=?3 AND blob=?4");
  if (!erase.ready()) return false;
  erase.bindText(1, entry.facts.kind);
  erase.bindText(2, hashText(entry.key).hex());
  erase.bindBlob(3, entry.key);
  erase.bindText(4, entry.blob);
  const bool isDone = erase.run();
  if (!isDone) note();
  return isDone && sqlite3_changes(m_database) > 0;
}

std::vector<StoreEntry> StoreIndex::entries(std::string_view kind, bool* isWhole) {
  const std::string text = std::string(kColumns) + (kind.empty() ? "" : "WHERE kind=?1 ") + "ORDER BY kind, hash, key";
  Statement query(m_database, text.c_str());
  std::vector<StoreEntry> all;
  if (!query.ready()) return all;
  if (!kind.empty()) query.bindText(1, kind);
  int step = query.step();
  for (; step == SQLITE_ROW; step = query.step()) all.push_back(entryAt(query));
  if (step != SQLITE_DONE) note();
  if (isWhole != nullptr) *isWhole = step == SQLITE_DONE;
  return all;
}

std::int64_t StoreIndex::storedBytes() {
  Statement query(m_database, "SELECT ifnull(sum(stored), 0) FROM entries");
  return query.step() == SQLITE_ROW ? query.whole(0) : 0;
}

std::int64_t StoreIndex::turn() {
  Statement query(m_database, "SELECT ifnull(max(turn), 0) FROM entries");
  return query.step() == SQLITE_ROW ? query.whole(0) : 0;
}

std::optional<std::int64_t> StoreIndex::setting(std::string_view name) {
  Statement query(m_database, "SELECT value FROM settings WHERE name=?1");
  query.bindText(1, name);
  return query.step() == SQLITE_ROW ? std::optional(query.whole(0)) : std::nullopt;
}

bool StoreIndex::set(std::string_view name, std::int64_t value) {
  Statement insert(m_database, "INSERT OR REPLACE INTO settings(name, value) VALUES(?1, ?2)");
  if (!insert.ready()) return false;
  insert.bindText(1, name);
  insert.bindWhole(2, value);
  const bool isDone = insert.run();
  if (!isDone) note();
  return isDone;
}

KindRecord StoreIndex::kind(std::string_view kind, std::string_view machine) {
  for (KindRecord& record : kinds(machine))
    if (record.kind == kind) return std::move(record);
  return {.kind = std::string(kind), .load = {}};
}

std::vector<KindRecord> StoreIndex::kinds(std::string_view machine) {
  Statement query(m_database,
                  "SELECT kind, loads, fixed_ms, ms_per_byte, not_kept, not_kept_ms FROM kinds WHERE machine=?1");
  std::vector<KindRecord> all;
  if (!query.ready()) return all;
  query.bindText(1, machine);
  const auto optional = [&](int column) {
    return query.isNull(column) ? std::nullopt : std::optional(query.number(column));
  };
  while (query.step() == SQLITE_ROW)
    all.push_back({.kind = query.text(0),
                   .load = {.loads = query.whole(1), .fixedMs = optional(2), .msPerByte = optional(3)},
                   .notKept = query.whole(4),
                   .notKeptMs = query.number(5)});
  return all;
}

void StoreIndex::setKind(const KindRecord& record, std::string_view machine) {
  Statement insert(m_database,
                   "INSERT OR REPLACE INTO kinds(kind, machine, loads, fixed_ms, ms_per_byte, not_kept, not_kept_ms)"
                   " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  if (!insert.ready()) return;
  insert.bindText(1, record.kind);
  insert.bindText(2, machine);
  insert.bindWhole(3, record.load.loads);
  if (record.load.fixedMs) insert.bindNumber(4, *record.load.fixedMs);
  if (record.load.msPerByte) insert.bindNumber(5, *record.load.msPerByte);
  insert.bindWhole(6, record.notKept);
  insert.bindNumber(7, record.notKeptMs);
  insert.run();
}

bool StoreIndex::check() {
  Statement query(m_database, "PRAGMA quick_check(1)");
  return !m_isDamaged && query.step() == SQLITE_ROW && query.text(0) == "ok";
}

}  // namespace fusescope
