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
#include "cache/store_index.h"

namespace fusescope {

struct DiskStoreOptions {
  CacheMode mode = CacheMode::Write;
  OnWritePhase onPhase{};  ///< for tests
};

/// What a look at all of the store came to.
struct StoreCheck {
  std::int64_t entries = 0;             ///< that were read
  std::vector<DamagedEntry> damaged{};  ///< of them; they are gone
  std::int64_t orphans = 0;             ///< files that no entry has, which writers left that were ended; they are gone
};

/// What is kept on this machine: an index and a file for each entry, in one folder (FORMAT.md). Several processes use
/// it at once; each may be ended at any moment, and leaves at worst a file that nobody knows, which goes later. Every
/// entry has a length and a content hash that are checked on reading, and says which key it was kept for. Thread-safe.
class DiskStore final : public KeptStore {
 public:
  /// Without a limit that somebody set, so many bytes are kept.
  static constexpr std::int64_t kUsualLimit = std::int64_t{4} << 30;

  /// Opens the store in `folder`, which is made if it is missing. What cannot be used is said by problem(), and the
  /// store then has nothing and keeps nothing.
  static std::shared_ptr<DiskStore> open(const std::filesystem::path& folder, DiskStoreOptions options = {});

  std::optional<Kept> find(std::string_view kind, std::string_view key) override;
  bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) override;

  const std::filesystem::path& folder() const { return m_folder; }
  std::string problem() const override {
    const std::lock_guard lock(m_mutex);
    return m_problem;
  }
  bool isUsable() const { return m_index.isOpen(); }
  /// They were deleted.
  std::vector<DamagedEntry> takeDamaged() override;

  std::vector<StoreEntry> entries(std::string_view kind = {});
  std::int64_t storedBytes();
  std::int64_t limit();
  /// Errors: it cannot be written.
  Status setLimit(std::int64_t bytes);
  /// Reads everything, deletes what is damaged and files that no entry has.
  StoreCheck verify();
  /// Removes what is least worth its bytes until the store is within its limit, and files that no entry has. Returns
  /// how many entries went.
  std::int64_t collect();
  /// Removes everything. Returns how many entries went. Errors: the store cannot be used.
  Result<std::int64_t> clear();

 private:
  DiskStore(std::filesystem::path folder, DiskStoreOptions options)
      : m_folder(std::move(folder)), m_options(std::move(options)) {}
  void openIndex();
  bool replaceIndex(std::string_view why);
  /// Of a blob by its name, which an index that somebody else wrote may have wrong: it never leads out of the folder.
  std::filesystem::path blobPath(std::string_view blob) const;
  Result<std::string> checked(const StoreEntry& entry);
  void drop(const StoreEntry& entry, const Diagnostic& why);
  bool write(StoreEntry entry, std::string_view bytes);
  std::int64_t evict(std::int64_t most);
  std::int64_t sweep();
  void mendIndex();

  const std::filesystem::path m_folder;
  const DiskStoreOptions m_options;
  mutable std::mutex m_mutex;
  StoreIndex m_index;
  std::string m_problem;
  std::vector<DamagedEntry> m_damaged;
  bool m_wasSwept = false;
};

}  // namespace fusescope
