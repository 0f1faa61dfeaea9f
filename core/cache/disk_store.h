#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cache/kept_store.h"
#include "cache/kept_worth.h"
#include "cache/store_index.h"

namespace fusescope {

struct DiskStoreOptions {
  CacheMode mode = CacheMode::Write;
  OnWritePhase onPhase{};           ///< for tests
  std::function<double()> nowMs{};  ///< a clock in milliseconds, for tests; empty: that of this machine
  std::string machine{};            ///< the name of the machine that loads; empty: this one's
};

/// What is kept of one kind, and what loading it costs on this machine.
struct KindStatistics {
  KindRecord record;
  std::int64_t entries = 0;
  std::int64_t stored = 0;  ///< bytes on disk
  std::int64_t hits = 0;
  double savedMs = 0;
};

/// The result of checking the whole store.
struct StoreCheck {
  std::int64_t entries = 0;             ///< entries that were read
  std::vector<DamagedEntry> damaged{};  ///< the damaged ones among them, which were deleted
  std::int64_t orphans = 0;             ///< deleted files that belong to no entry, which killed writers left behind
};

/// The store on the disk of this machine: an index and one file for each entry, in one folder (FORMAT.md). Several
/// processes may use it at once. Each may be killed at any time, and leaves at most a file that belongs to no entry and
/// is deleted later. On a full disk, entries are found, and nothing is kept. The length, the content hash and the key
/// of every entry are checked on reading. Thread-safe.
class DiskStore final : public KeptStore {
 public:
  /// The limit in bytes if none was set.
  static constexpr std::int64_t kUsualLimit = std::int64_t{4} << 30;

  /// Opens the store in `folder`, which is created if it does not exist. If the folder cannot be used, problem() says
  /// why, and the store then finds nothing and keeps nothing.
  static std::shared_ptr<DiskStore> open(const std::filesystem::path& folder, DiskStoreOptions options = {});

  std::optional<Kept> find(std::string_view kind, std::string_view key) override;
  /// Results that are made faster than they are loaded on this machine are not kept.
  bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) override;

  bool keepsNew() const override { return m_options.mode == CacheMode::Write; }
  double msToLoad(std::string_view kind, std::uint64_t bytes) override;

  const std::filesystem::path& folder() const { return m_folder; }
  /// Also says why the last entry was not kept, such as that the disk is full.
  std::string problem() const override {
    const std::lock_guard lock(m_mutex);
    return m_problem.empty() ? m_notKept : m_problem;
  }
  bool isUsable() const { return m_index.isOpen(); }
  /// Returns the damaged entries, which were deleted.
  std::vector<DamagedEntry> takeDamaged() override;

  std::vector<StoreEntry> entries(std::string_view kind = {});
  /// Returns the bytes of an entry, without counting a use of it. Errors: they are damaged.
  Result<std::string> bytesOf(const StoreEntry& entry);
  std::int64_t storedBytes();
  /// Returns the statistics of each kind that is kept or was not kept, in the order of their names.
  std::vector<KindStatistics> statistics();
  /// Returns the limit of all that is kept, the measured times beside the store among it.
  std::int64_t limit();
  std::vector<KeptWorth> worths();  ///< of each entry
  /// Sets the limit in bytes. Errors: it cannot be written.
  Status setLimit(std::int64_t bytes);
  /// Reads everything; deletes damaged entries and files that belong to no entry.
  StoreCheck verify();
  /// Deletes entries that are quicker to make than to load on this machine; then entries until the store is within its
  /// limit, first those that saved least time per byte and were not used for long; and files that belong to no entry.
  /// Returns how many entries were deleted.
  std::int64_t collect();
  /// Sets the limit in bytes, and deletes as collect() does. On a full disk, files are deleted before the index is
  /// changed. Errors: the store cannot be used, or the limit cannot be written.
  Result<std::int64_t> collectTo(std::int64_t limit);
  /// Deletes everything, also on a full disk. Returns how many entries were deleted. Errors: the store cannot be used.
  Result<std::int64_t> clear();

 private:
  DiskStore(std::filesystem::path folder, DiskStoreOptions options);
  void openIndex();
  bool replaceIndex(std::string_view why);
  /// Returns the path of a blob by its name. The path is always inside the folder, even if the index was changed by
  /// another program and contains a wrong name.
  std::filesystem::path blobPath(std::string_view blob) const;
  void drop(const StoreEntry& entry, const Diagnostic& why);
  bool write(StoreEntry entry, std::string_view bytes);
  bool notKept(std::string_view why);
  std::int64_t room(std::int64_t limit) const;
  std::vector<StoreEntry> leastWorth(std::int64_t most);
  std::int64_t evict(std::int64_t most);
  Result<std::int64_t> evictOnFullDisk(std::int64_t most);
  std::int64_t collectNow();
  std::int64_t sweep();
  void mendIndex();
  void noteLoad(std::string_view kind, std::uint64_t bytes, double ms);
  bool isQuickerMade(const KindRecord& record, const KeptFacts& facts, std::uint64_t bytes) const;
  bool isWorthKeeping(const KeptFacts& facts, std::string_view key, std::uint64_t bytes);
  void tryLoading(const StoreEntry& entry);
  std::int64_t removeQuickerMade();

  const std::filesystem::path m_folder;
  const DiskStoreOptions m_options;  ///< includes a clock and a name of the machine
  mutable std::mutex m_mutex;
  StoreIndex m_index;
  std::string m_problem;
  std::string m_notKept;  ///< why the last entry was not kept; empty: it was
  std::vector<DamagedEntry> m_damaged;
  bool m_wasSwept = false;
};

}  // namespace fusescope
