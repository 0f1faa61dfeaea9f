#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/blob_file.h"
#include "cache/kept_store.h"
#include "cache/load_cost.h"

struct sqlite3;

namespace fusescope {

/// A row of the index: an entry and its statistics.
struct StoreEntry {
  KeptFacts facts;
  std::string key;
  std::string blob;  ///< the name of the file with its bytes
  BlobFacts size;
  std::int64_t madeAt = 0;  ///< seconds since 1970
  std::int64_t hits = 0;
  double savedMs = 0;     ///< by all hits together
  std::int64_t turn = 0;  ///< the number of the last use, counted in uses of the store, because clocks may be set back
};

/// What is known of a kind of entries on one machine, beside the entries.
struct KindRecord {
  std::string kind;
  LoadCost load;
  std::int64_t notKept = 0;  ///< how often something was not kept because making it is quicker than loading it
  double notKeptMs = 0;      ///< how long making these took
};

/// The result of opening an index.
enum class IndexState {
  Sound,
  Newer,    ///< written by a later version of Fusescope; it is not changed
  Older,    ///< written by a version that is no longer supported
  Foreign,  ///< not our index, or a damaged one
  Full,     ///< the disk is full; it is open as a copy in memory if it could be read (isCopy())
  Busy      ///< it cannot be opened at present, or not at all
};

/// The index of a store on disk: it maps keys to blobs. It uses SQLite in write-ahead mode, so that several processes
/// can use it at once. It may be used by one thread at a time. Functions report failure by their results, and never
/// leave a change half done.
class StoreIndex {
 public:
  StoreIndex() = default;
  ~StoreIndex();
  StoreIndex(const StoreIndex&) = delete;
  StoreIndex& operator=(const StoreIndex&) = delete;

  /// Opens the file, or creates it.
  IndexState open(const std::filesystem::path& path);
  bool isOpen() const { return m_database != nullptr; }
  /// Returns whether a copy in memory is open. It is read as the index is, and changes of it are lost.
  bool isCopy() const { return m_isCopy; }
  /// Returns why the index could not be opened, as a clause: "another process is using it".
  const std::string& problem() const { return m_problem; }
  void close();

  std::optional<StoreEntry> find(std::string_view kind, std::string_view key);
  /// Adds an entry in place of the one with the same kind and key, if there is one, whose blob is then returned in
  /// `replaced`. `onPhase` is called before the commit. Returns false if nothing was changed.
  bool put(const StoreEntry& entry, const OnWritePhase& onPhase, std::string& replaced);
  /// Counts a use of the entry. A failure is ignored.
  void used(const StoreEntry& entry, double savedMs);
  /// Removes the entry if it still has this blob. Returns false if it does not.
  bool remove(const StoreEntry& entry);
  /// Returns all entries, or those of `kind`, ordered by kind and by the hash of the key. `isWhole` is set to true if
  /// none is missing.
  std::vector<StoreEntry> entries(std::string_view kind = {}, bool* isWhole = nullptr);
  std::int64_t storedBytes();
  std::int64_t turn();
  /// Returns a number that is stored beside the entries; nothing if there is none of this name.
  std::optional<std::int64_t> setting(std::string_view name);
  bool set(std::string_view name, std::int64_t value);
  /// Returns what is known of a kind, or of all kinds, on this machine.
  KindRecord kind(std::string_view kind, std::string_view machine);
  std::vector<KindRecord> kinds(std::string_view machine);
  /// Replaces what is known of a kind on this machine. A failure is ignored.
  void setKind(const KindRecord& record, std::string_view machine);
  /// Returns whether SQLite found damaged pages since the file was opened.
  bool isDamaged() const { return m_isDamaged; }
  /// Returns whether the last change failed because the disk is full.
  bool isFull() const { return m_isFull; }
  bool check();  ///< checks the whole file; returns false if it is damaged

 private:
  bool run(const char* text);
  void note();
  IndexState closedAfterFault(const std::filesystem::path& path);
  sqlite3* m_database = nullptr;
  std::filesystem::path m_path;
  std::string m_problem;
  bool m_isDamaged = false, m_isFull = false, m_isCopy = false;
};

}  // namespace fusescope
