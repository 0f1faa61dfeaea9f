#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/blob_file.h"
#include "cache/kept_store.h"

struct sqlite3;

namespace fusescope {

/// A row of the index: something that is kept, and what became of it.
struct StoreEntry {
  KeptFacts facts;
  std::string key;
  std::string blob;  ///< the name of its file
  BlobFacts size;
  std::int64_t madeAt = 0;  ///< seconds since 1970
  std::int64_t hits = 0;
  double savedMs = 0;     ///< by all hits together
  std::int64_t turn = 0;  ///< when it was used last, counted in uses of the store: clocks may be set back
};

/// What opening an index came to.
enum class IndexState {
  Sound,
  Newer,    ///< a later version of Fusescope made it: it is left alone
  Older,    ///< of a version that is not read any more
  Foreign,  ///< no index of ours, or a damaged one
  Busy      ///< it cannot be opened now, or not at all
};

/// The index of a store on disk: which blob holds what was kept under which key. SQLite in write-ahead mode, so that
/// several processes use it at once. For one thread at a time. What fails says so by its value; nothing is half done.
class StoreIndex {
 public:
  StoreIndex() = default;
  ~StoreIndex();
  StoreIndex(const StoreIndex&) = delete;
  StoreIndex& operator=(const StoreIndex&) = delete;

  /// Opens or makes the file.
  IndexState open(const std::filesystem::path& path);
  bool isOpen() const { return m_database != nullptr; }
  void close();

  std::optional<StoreEntry> find(std::string_view kind, std::string_view key);
  /// Puts an entry in the place of the one of its kind and key, if there is one, whose blob is then `replaced`.
  /// `listed` is asked before it is committed. False: nothing changed.
  bool put(const StoreEntry& entry, const OnWritePhase& onPhase, std::string& replaced);
  /// Counts a use of it. Nobody minds where that fails.
  void used(const StoreEntry& entry, double savedMs);
  /// Removes the entry, if it still has this blob. False: it has not.
  bool remove(const StoreEntry& entry);
  /// All, of `kind` where one is given, in the order of kinds and keys' hashes.
  /// `isWhole` becomes true where none is missing.
  std::vector<StoreEntry> entries(std::string_view kind = {}, bool* isWhole = nullptr);
  std::int64_t storedBytes();
  std::int64_t turn();
  /// A number that is kept beside the entries; nothing: there is none of this name.
  std::optional<std::int64_t> setting(std::string_view name);
  bool set(std::string_view name, std::int64_t value);
  /// Whether SQLite found pages of the file damaged since it was opened.
  bool isDamaged() const { return m_isDamaged; }
  bool check();  ///< all of the file; false: it is damaged

 private:
  bool run(const char* text);
  void note();
  sqlite3* m_database = nullptr;
  bool m_isDamaged = false;
};

}  // namespace fusescope
