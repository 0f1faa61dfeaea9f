#pragma once

#include <filesystem>
#include <string>

struct sqlite3;

namespace fusescope {

/// What kept SQLite from using a file.
enum class DatabaseFault {
  Damaged,  ///< the file is not a database, or SQLite found damaged pages in it
  Full,     ///< the disk is full
  Other     ///< another process uses it, the disk cannot be read, and so on; the file may be sound
};

/// Returns why the last call for `database`, which is open or was to be opened from `file`, failed.
DatabaseFault faultOf(sqlite3* database, const std::filesystem::path& file);
/// Returns the same as a clause: "the disk is full".
std::string faultInWords(sqlite3* database, const std::filesystem::path& file);

/// Returns a copy of the database in memory; null if it cannot be read now. Even reading a database in write-ahead mode
/// needs a file of shared memory beside it, for which a full disk has no space. The copy is made without this file, by
/// a process that has the database alone for so long.
sqlite3* copyInMemory(const std::filesystem::path& file);

}  // namespace fusescope
