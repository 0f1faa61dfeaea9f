#include <fmt/format.h>

#include <algorithm>

#include "cache/disk_store.h"
#include "cache/store_folder.h"
#include "cache/timing_cache.h"

// How DiskStore makes room: it removes what is worth least, or everything, also on a full disk.
namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// Returns the value of an entry per byte: the time that it saved and would save at the next use, reduced the longer it
/// has not been used.
double worthOf(const StoreEntry& entry, std::int64_t turn, std::size_t entries) {
  const double saved = entry.savedMs + entry.facts.madeMs;
  const double rest = static_cast<double>(std::max<std::int64_t>(turn - entry.turn, 0));
  const double fading = 1 + rest / static_cast<double>(std::max<std::size_t>(entries, 16));
  return saved / (fading * static_cast<double>(std::max<std::uint64_t>(entry.size.stored, 1)));
}

/// An empty file of measured times has some pages already, which do not count.
constexpr std::int64_t kEmptyTimes = 1 << 16;

}  // namespace

/// Returns how many bytes entries may take: what the measured times beside the store leave, which is at least half.
std::int64_t DiskStore::room(std::int64_t limit) const {
  std::error_code unknown;
  const auto times = fs::file_size(m_folder.parent_path() / "timings.sqlite", unknown);
  if (unknown) return limit;
  const std::int64_t counted = std::max<std::int64_t>(static_cast<std::int64_t>(times) - kEmptyTimes, 0);
  return limit - std::min(counted, TimingCache::mostBytes(limit));
}

std::vector<KeptWorth> DiskStore::worths() {
  const std::lock_guard lock(m_mutex);
  std::vector<KeptWorth> worths;
  if (!m_index.isOpen()) return worths;
  const std::vector<StoreEntry> all = m_index.entries();
  for (const StoreEntry& entry : all)
    worths.push_back(
        {.perByte = worthOf(entry, m_index.turn(), all.size()), .bytes = static_cast<std::int64_t>(entry.size.stored)});
  return worths;
}

/// Returns the entries without which the others take at most `most` bytes, those that are worth least first.
std::vector<StoreEntry> DiskStore::leastWorth(std::int64_t most) {
  std::int64_t stored = m_index.storedBytes();
  if (stored <= most) return {};
  std::vector<StoreEntry> all = m_index.entries();
  const std::int64_t turn = m_index.turn();
  std::ranges::sort(all, {}, [&](const StoreEntry& entry) { return worthOf(entry, turn, all.size()); });
  std::size_t count = 0;
  for (; count < all.size() && stored > most; ++count) stored -= static_cast<std::int64_t>(all[count].size.stored);
  all.resize(count);
  return all;
}

/// Removes entries until the others take at most `most` bytes. Returns how many entries were removed. If the disk is
/// too full for changing the index, the file goes first, which makes room for the change.
std::int64_t DiskStore::evict(std::int64_t most) {
  std::int64_t removed = 0;
  std::error_code ignored;
  for (const StoreEntry& entry : leastWorth(most)) {
    const bool isRemoved = m_index.remove(entry);
    if (!isRemoved && !m_index.isFull()) continue;
    fs::remove(blobPath(entry.blob), ignored);
    if (!isRemoved) std::ignore = m_index.remove(entry);
    ++removed;
  }
  return removed;
}

Status DiskStore::setLimit(std::int64_t bytes) {
  const std::lock_guard lock(m_mutex);
  if (m_index.isOpen() && m_index.set(kLimitSetting, bytes)) return Done{};
  return Diagnostic{.message = "the limit cannot be written", .where = {.file = (m_folder / kIndexFile).string()}};
}

std::int64_t DiskStore::collect() {
  const std::lock_guard lock(m_mutex);
  return m_index.isOpen() && !m_index.isCopy() ? collectNow() : 0;
}

std::int64_t DiskStore::collectNow() {
  const std::int64_t quicker = removeQuickerMade();
  const std::int64_t removed = quicker + evict(room(m_index.setting(kLimitSetting).value_or(kUsualLimit)));
  sweep();
  return removed;
}

/// Does what evict() does where the index can only be read. Files go first. If nothing is to be left, the index goes
/// too if it cannot be changed even then.
Result<std::int64_t> DiskStore::evictOnFullDisk(std::int64_t most) {
  const fs::path path = m_folder / kIndexFile;
  const StoreLock alone(m_folder, LOCK_EX);
  if (!alone.isHeld())
    return Diagnostic{.message = m_problem + "; another process uses it", .where = {.file = path.string()}};
  const std::vector<StoreEntry> removed = leastWorth(most);
  std::error_code failed, ignored;
  for (const StoreEntry& entry : removed) fs::remove(blobPath(entry.blob), ignored);
  const bool isAll = most < 0;
  for (fs::directory_iterator file(m_folder / "blobs", failed), end; isAll && !failed && file != end;
       file.increment(failed))
    fs::remove(file->path(), ignored);
  if (m_index.open(path) != IndexState::Sound && isAll) {
    m_index.close();
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path.string() + suffix, ignored);
    m_index.open(path);
  }
  if (!m_index.isOpen() || m_index.isCopy()) {
    if (isAll) return std::ssize(removed);
    return Diagnostic{.message = m_problem, .where = {.file = path.string()}};
  }
  m_problem.clear();
  for (const StoreEntry& entry : removed) std::ignore = m_index.remove(entry);
  return std::ssize(removed);
}

Result<std::int64_t> DiskStore::collectTo(std::int64_t limit) {
  const std::lock_guard lock(m_mutex);
  if (!m_index.isOpen()) return Diagnostic{.message = m_problem, .where = {.file = m_folder.string()}};
  std::int64_t removed = m_index.isCopy() ? TRY(evictOnFullDisk(limit)) : 0;
  if (!m_index.set(kLimitSetting, limit)) {
    removed += evict(limit);
    if (!m_index.set(kLimitSetting, limit))
      return Diagnostic{.message = "the limit cannot be written: " + m_index.problem(),
                        .where = {.file = (m_folder / kIndexFile).string()}};
  }
  return removed + collectNow();
}

Result<std::int64_t> DiskStore::clear() {
  const std::lock_guard lock(m_mutex);
  if (m_index.isCopy() || (!m_index.isOpen() && m_index.isFull())) return evictOnFullDisk(-1);
  if (!m_index.isOpen()) return Diagnostic{.message = m_problem, .where = {.file = m_folder.string()}};
  const std::int64_t removed = evict(-1);
  sweep();
  return removed;
}

}  // namespace fusescope
