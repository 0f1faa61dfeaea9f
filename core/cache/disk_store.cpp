#include "cache/disk_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>

#include "base/age.h"
#include "base/elapsed.h"
#include "cache/store_folder.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// An entry that is larger than the limit divided by this number is not stored, because it would drive out all others.
constexpr std::int64_t kLargestPart = 2;

/// Returns a name that no other blob has or will have.
std::string newBlobName(const Hash128& key) {
  static std::atomic<std::uint64_t> count{0};
  std::random_device random;
  KeyBuilder name;
  name.number(::getpid()).number(++count).number(random()).number(random()).number(key.high).number(key.low);
  return name.hash().hex();
}

std::string nameOfThisMachine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("unknown");
}

DiskStoreOptions completed(DiskStoreOptions options) {
  if (!options.nowMs) options.nowMs = [start = std::chrono::steady_clock::now()] { return msSince(start); };
  if (options.machine.empty()) options.machine = nameOfThisMachine();
  return options;
}

}  // namespace

DiskStore::DiskStore(fs::path folder, DiskStoreOptions options)
    : m_folder(std::move(folder)), m_options(completed(std::move(options))) {}

std::shared_ptr<DiskStore> DiskStore::open(const fs::path& folder, DiskStoreOptions options) {
  std::shared_ptr<DiskStore> store(new DiskStore(folder, std::move(options)));
  std::error_code failed;
  fs::create_directories(folder / "blobs", failed);
  if (failed) {
    store->m_problem = fmt::format("{} cannot be created: {}", (folder / "blobs").string(), failed.message());
  } else {
    store->openIndex();
  }
  return store;
}

void DiskStore::openIndex() {
  const fs::path path = m_folder / kIndexFile;
  switch (m_index.open(path)) {
    case IndexState::Sound:
      return;
    case IndexState::Newer:
      m_problem = fmt::format("{} was written by a later version of Fusescope, so it is not used", path.string());
      return;
    case IndexState::Older:
      replaceIndex("is of an earlier version");
      return;
    case IndexState::Foreign:
      replaceIndex("is damaged, or is not an index of Fusescope");
      return;
    case IndexState::Full:
      m_problem = fmt::format("the disk with {} is full, so that nothing new is kept", path.string());
      return;
    case IndexState::Busy:
      m_problem = fmt::format("{} cannot be opened: {}", path.string(), m_index.problem());
      return;
  }
}

/// Moves the index aside and begins a new one. The blobs that the old index listed remain as files without an entry.
bool DiskStore::replaceIndex(std::string_view why) {
  m_index.close();
  const fs::path path = m_folder / kIndexFile;
  const fs::path aside = path.string() + ".before";
  const StoreLock alone(m_folder, LOCK_EX);
  if (!alone.isHeld()) {
    m_problem = fmt::format("{} {}, and another process uses it", path.string(), why);
    return false;
  }
  // If it is sound now, another process has replaced it meanwhile.
  if (m_index.open(path) == IndexState::Sound && m_index.check()) return true;
  m_index.close();
  std::error_code failed, ignored;
  fs::rename(path, aside, failed);
  for (const char* suffix : {"-wal", "-shm"}) fs::remove(path.string() + suffix, ignored);
  if (!failed && m_index.open(path) == IndexState::Sound) {
    m_problem = fmt::format("{} {}; it was moved to {}, and a new one was created", path.string(), why, aside.string());
    return true;
  }
  m_problem = fmt::format("{} {}, and no new one can be created", path.string(), why);
  return false;
}

/// Replaces the index if SQLite found it damaged during an operation, so that the next operation works.
void DiskStore::mendIndex() {
  if (!m_index.isDamaged()) return;
  m_damaged.push_back({.about = "the index of the cache", .why = (m_folder / kIndexFile).string() + " is damaged"});
  replaceIndex("is damaged");
}

std::filesystem::path DiskStore::blobPath(std::string_view blob) const {
  const bool isName = blob.size() == 32 && blob.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return m_folder / "blobs" / (isName ? std::string(blob) : "no-blob");
}

/// If another process removed or replaced the entry meanwhile, it is looked up again. An entry that cannot be opened at
/// the moment is left unchanged.
std::optional<Kept> DiskStore::find(std::string_view kind, std::string_view key) {
  const std::lock_guard lock(m_mutex);
  if (m_options.mode == CacheMode::Off || !m_index.isOpen()) return std::nullopt;
  const double start = m_options.nowMs();
  std::string last;
  for (;;) {
    const auto entry = m_index.find(kind, key);
    mendIndex();
    if (!entry || !m_index.isOpen()) return std::nullopt;
    auto bytes = readBlob(blobPath(entry->blob), entry->size);
    if (!bytes.ok()) {
      std::error_code unknown;
      const bool isThere = fs::exists(blobPath(entry->blob), unknown);
      if (unknown || (isThere && ::access(blobPath(entry->blob).c_str(), R_OK) != 0)) return std::nullopt;
      if (entry->blob == last || isThere) {
        drop(*entry, bytes.error());
        return std::nullopt;
      }
      last = entry->blob;
      continue;
    }
    if (m_options.mode == CacheMode::Write) {
      const double ms = m_options.nowMs() - start;
      m_index.used(*entry, std::max(0.0, entry->facts.madeMs - ms));
      noteLoad(kind, entry->size.bytes, ms);
    }
    return Kept{.bytes = std::move(bytes).value(), .facts = entry->facts, .madeAt = entry->madeAt, .where = "disk"};
  }
}

void DiskStore::drop(const StoreEntry& entry, const Diagnostic& why) {
  m_damaged.push_back({.about = entry.facts.about, .why = why.text()});
  if (m_options.mode != CacheMode::Write || m_index.isCopy()) return;
  std::error_code ignored;
  if (m_index.remove(entry)) fs::remove(blobPath(entry.blob), ignored);
}

bool DiskStore::keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) {
  const std::lock_guard lock(m_mutex);
  if (m_options.mode != CacheMode::Write || !m_index.isOpen() || m_index.isCopy()) return false;
  if (!m_wasSwept) {
    m_wasSwept = true;
    sweep();
  }
  if (!isWorthKeeping(facts, key, bytes.size())) return false;
  StoreEntry entry{.facts = facts,
                   .key = std::string(key),
                   .blob = {},
                   .size = {},
                   .madeAt = facts.madeAt != 0 ? facts.madeAt : secondsNow()};
  const bool isKept = write(std::move(entry), bytes);
  mendIndex();
  return isKept;
}

bool DiskStore::notKept(std::string_view why) {
  m_notKept = fmt::format("an entry could not be kept in {}: {}", m_folder.string(), why);
  return false;
}

bool DiskStore::write(StoreEntry entry, std::string_view bytes) {
  const std::int64_t most = m_index.setting(kLimitSetting).value_or(kUsualLimit);
  const StoreLock together(m_folder, LOCK_SH);
  if (!together.isHeld()) return notKept("another process is using it");
  const Hash128 key = hashText(entry.facts.kind + '\0' + entry.key);
  entry.blob = newBlobName(key);
  auto blob = writeBlob(blobPath(entry.blob), bytes, key, m_options.onPhase);
  if (!blob.ok()) return notKept(blob.error().message);
  entry.size = blob.value();
  std::error_code ignored;
  std::string replaced;
  const auto stored = static_cast<std::int64_t>(entry.size.stored);
  const bool isSmall = stored <= most / kLargestPart;
  if (!isSmall || !m_index.put(entry, m_options.onPhase, replaced)) {
    fs::remove(blobPath(entry.blob), ignored);
    if (isSmall) return notKept("the index cannot be written: " + m_index.problem());
    return notKept(fmt::format("its {} bytes are more than half of the limit of {}", stored, most));
  }
  m_notKept.clear();
  if (!replaced.empty()) fs::remove(blobPath(replaced), ignored);
  if (m_options.onPhase) std::ignore = m_options.onPhase(WritePhase::Done);
  evict(room(most));
  tryLoading(entry);
  return true;
}

/// Removes files without an entry. It needs the exclusive lock, so that nobody writes meanwhile; if somebody writes
/// now, the files are left for a later time. A copy of the index may lack entries that others have kept since.
std::int64_t DiskStore::sweep() {
  if (m_index.isCopy()) return 0;
  const StoreLock alone(m_folder, LOCK_EX, 1);
  if (!alone.isHeld()) return 0;
  std::set<std::string, std::less<>> known;
  bool isWhole = false;
  for (const StoreEntry& entry : m_index.entries({}, &isWhole)) known.insert(entry.blob);
  if (!isWhole || m_index.isDamaged()) return 0;
  std::int64_t removed = 0;
  std::error_code failed, ignored;
  for (fs::directory_iterator file(m_folder / "blobs", failed), end; !failed && file != end; file.increment(failed))
    if (!known.contains(file->path().filename().string()) && fs::remove(file->path(), ignored)) ++removed;
  return removed;
}

std::vector<DamagedEntry> DiskStore::takeDamaged() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_damaged, {});
}

std::vector<StoreEntry> DiskStore::entries(std::string_view kind) {
  const std::lock_guard lock(m_mutex);
  return m_index.isOpen() ? m_index.entries(kind) : std::vector<StoreEntry>();
}

std::int64_t DiskStore::storedBytes() {
  const std::lock_guard lock(m_mutex);
  return m_index.isOpen() ? m_index.storedBytes() : 0;
}

std::int64_t DiskStore::limit() {
  const std::lock_guard lock(m_mutex);
  return m_index.isOpen() ? m_index.setting(kLimitSetting).value_or(kUsualLimit) : kUsualLimit;
}

Result<std::string> DiskStore::bytesOf(const StoreEntry& entry) {
  const std::lock_guard lock(m_mutex);
  return readBlob(blobPath(entry.blob), entry.size);
}

StoreCheck DiskStore::verify() {
  const std::lock_guard lock(m_mutex);
  StoreCheck check;
  if (!m_index.isOpen()) return check;
  if (!m_index.check() || m_index.isDamaged()) {
    replaceIndex("is damaged");
    check.damaged.push_back({.about = "the index of the cache", .why = m_problem});
  }
  if (!m_index.isOpen()) return check;
  for (const StoreEntry& entry : m_index.entries()) {
    ++check.entries;
    const auto bytes = readBlob(blobPath(entry.blob), entry.size);
    if (bytes.ok()) continue;
    const auto now = m_index.find(entry.facts.kind, entry.key);
    if (!now || now->blob != entry.blob) continue;  // another process has removed or replaced it meanwhile
    drop(entry, bytes.error());
    check.damaged.push_back(m_damaged.back());
  }
  check.orphans = sweep();
  return check;
}

}  // namespace fusescope
