#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace fusescope {

/// A prepared statement of SQLite that is finalised at the end of the scope. As in SQLite, parameters are counted from
/// 1 and columns from 0. It may be used by one thread.
class Statement {
 public:
  Statement(sqlite3* database, const char* text) {
    if (sqlite3_prepare_v2(database, text, -1, &m_statement, nullptr) != SQLITE_OK) m_statement = nullptr;
  }
  ~Statement() { sqlite3_finalize(m_statement); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  bool ready() const { return m_statement != nullptr; }
  void bindText(int place, std::string_view text) {
    sqlite3_bind_text(m_statement, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void bindBlob(int place, std::string_view bytes) {
    sqlite3_bind_blob(m_statement, place, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
  }
  void bindNumber(int place, double number) { sqlite3_bind_double(m_statement, place, number); }
  void bindWhole(int place, std::int64_t number) { sqlite3_bind_int64(m_statement, place, number); }
  int step() { return m_statement == nullptr ? SQLITE_ERROR : sqlite3_step(m_statement); }
  /// Executes a statement that returns no rows. Returns false if it failed.
  bool run() { return step() == SQLITE_DONE; }
  double number(int column) { return sqlite3_column_double(m_statement, column); }
  std::int64_t whole(int column) { return sqlite3_column_int64(m_statement, column); }
  bool isNull(int column) { return sqlite3_column_type(m_statement, column) == SQLITE_NULL; }
  std::string text(int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(m_statement, column));
    return bytes == nullptr ? std::string() : std::string(bytes);
  }
  std::string blob(int column) {
    const void* bytes = sqlite3_column_blob(m_statement, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column));
    return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
  }

 private:
  sqlite3_stmt* m_statement = nullptr;
};

}  // namespace fusescope
