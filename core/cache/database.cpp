#include "cache/database.h"

#include <sqlite3.h>

#include <cstdint>

namespace fusescope {
namespace {

constexpr int kPatienceOfCopyMs = 2000;
/// What SQLite needs for its file of shared memory. Where less is free, an error of writing means that the disk is
/// full, even if SQLite calls it an error of the disk.
constexpr std::uintmax_t kSharedMemoryBytes = 64 << 10;

}  // namespace

DatabaseFault faultOf(sqlite3* database, const std::filesystem::path& file) {
  const int error = sqlite3_errcode(database) & 0xff;
  if (error == SQLITE_CORRUPT || error == SQLITE_NOTADB) return DatabaseFault::Damaged;
  if (error == SQLITE_FULL) return DatabaseFault::Full;
  if (error != SQLITE_IOERR && error != SQLITE_CANTOPEN) return DatabaseFault::Other;
  std::error_code unknown;
  const auto space = std::filesystem::space(file.has_parent_path() ? file.parent_path() : ".", unknown);
  return !unknown && space.available < kSharedMemoryBytes ? DatabaseFault::Full : DatabaseFault::Other;
}

std::string faultInWords(sqlite3* database, const std::filesystem::path& file) {
  switch (faultOf(database, file)) {
    case DatabaseFault::Damaged:
      return "the file is damaged";
    case DatabaseFault::Full:
      return "the disk is full";
    case DatabaseFault::Other:
      break;
  }
  const int error = sqlite3_errcode(database) & 0xff;
  if (error == SQLITE_BUSY || error == SQLITE_LOCKED) return "another process is using it";
  return std::string("SQLite says: ") + sqlite3_errmsg(database);
}

sqlite3* copyInMemory(const std::filesystem::path& file) {
  sqlite3 *source = nullptr, *copy = nullptr;
  const auto end = [&](bool isCopied) {
    sqlite3_close(source);
    if (isCopied) return copy;
    sqlite3_close(copy);
    return static_cast<sqlite3*>(nullptr);
  };
  if (sqlite3_open_v2(file.c_str(), &source, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) return end(false);
  sqlite3_busy_timeout(source, kPatienceOfCopyMs);
  // In this mode SQLite needs no file of shared memory.
  if (sqlite3_exec(source, "PRAGMA locking_mode=EXCLUSIVE", nullptr, nullptr, nullptr) != SQLITE_OK) return end(false);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(":memory:", &copy, flags, nullptr) != SQLITE_OK) return end(false);
  sqlite3_backup* backup = sqlite3_backup_init(copy, "main", source, "main");
  if (backup == nullptr) return end(false);
  sqlite3_backup_step(backup, -1);
  return end(sqlite3_backup_finish(backup) == SQLITE_OK);
}

}  // namespace fusescope
