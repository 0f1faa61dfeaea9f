#include <map>

#include "cache/disk_store.h"

// What DiskStore learns about kinds of entries on this machine: how long loading takes, and which entries can be made
// faster than they can be loaded.
namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// Bytes of the largest entry that is read again only to measure how long reading takes.
constexpr std::uint64_t kMostTried = 64 << 20;

}  // namespace

void DiskStore::noteLoad(std::string_view kind, std::uint64_t bytes, double ms) {
  KindRecord record = m_index.kind(kind, m_options.machine);
  record.load.learn(bytes, ms);
  m_index.setKind(record, m_options.machine);
}

double DiskStore::msToLoad(std::string_view kind, std::uint64_t bytes) {
  const std::lock_guard lock(m_mutex);
  if (!m_index.isOpen()) return 0;
  const LoadCost cost = m_index.kind(kind, m_options.machine).load;
  return cost.isKnown() ? cost.msFor(bytes) : 0;
}

/// Returns whether the entry is made faster than it is loaded. An entry whose making was not timed may have taken long
/// and is kept, and the load time of an entry that is larger than all measured ones is not underestimated.
bool DiskStore::isQuickerMade(const KindRecord& record, const KeptFacts& facts, std::uint64_t bytes) const {
  return facts.madeMs > 0 && record.load.isKnown() && facts.madeMs < record.load.msFor(bytes);
}

bool DiskStore::isWorthKeeping(const KeptFacts& facts, std::string_view key, std::uint64_t bytes) {
  KindRecord record = m_index.kind(facts.kind, m_options.machine);
  if (!isQuickerMade(record, facts, bytes)) return true;
  ++record.notKept;
  record.notKeptMs += facts.madeMs;
  m_index.setKind(record, m_options.machine);
  std::error_code ignored;
  const auto former = m_index.find(facts.kind, key);
  if (former && m_index.remove(*former)) fs::remove(blobPath(former->blob), ignored);
  return false;
}

/// Loads one of the first entries of a kind, only to measure how long that takes.
void DiskStore::tryLoading(const StoreEntry& entry) {
  if (entry.size.bytes > kMostTried || m_index.kind(entry.facts.kind, m_options.machine).load.isKnown()) return;
  const double start = m_options.nowMs();
  const auto found = m_index.find(entry.facts.kind, entry.key);
  if (!found || !readBlob(blobPath(found->blob), found->size).ok()) return;
  noteLoad(entry.facts.kind, entry.size.bytes, m_options.nowMs() - start);
}

std::int64_t DiskStore::removeQuickerMade() {
  std::int64_t removed = 0;
  std::error_code ignored;
  for (KindRecord record : m_index.kinds(m_options.machine)) {
    const std::int64_t before = record.notKept;
    for (const StoreEntry& entry : m_index.entries(record.kind)) {
      if (!isQuickerMade(record, entry.facts, entry.size.bytes) || !m_index.remove(entry)) continue;
      fs::remove(blobPath(entry.blob), ignored);
      ++record.notKept;
      record.notKeptMs += entry.facts.madeMs;
      ++removed;
    }
    if (record.notKept != before) m_index.setKind(record, m_options.machine);
  }
  return removed;
}

std::vector<KindStatistics> DiskStore::statistics() {
  const std::lock_guard lock(m_mutex);
  if (!m_index.isOpen()) return {};
  std::map<std::string, KindStatistics> byKind;
  for (KindRecord& record : m_index.kinds(m_options.machine)) {
    const std::string kind = record.kind;
    byKind[kind].record = std::move(record);
  }
  for (const StoreEntry& entry : m_index.entries()) {
    KindStatistics& of = byKind[entry.facts.kind];
    of.record.kind = entry.facts.kind;
    ++of.entries;
    of.stored += static_cast<std::int64_t>(entry.size.stored);
    of.hits += entry.hits;
    of.savedMs += entry.savedMs;
  }
  std::vector<KindStatistics> all;
  for (auto& [kind, of] : byKind) all.push_back(std::move(of));
  return all;
}

}  // namespace fusescope
