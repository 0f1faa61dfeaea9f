#include "tuning/activation_store.h"

namespace fusescope {
namespace {

/// The fraction of the memory for preferred runs; the rest is for the current run.
constexpr double kPreferredShare = 0.75;

std::size_t bytesOf(const std::vector<Tensor>& tensors) {
  std::size_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.byteSize();
  return bytes;
}

}  // namespace

Activations ActivationStore::find(const Hash128& key) {
  const auto entry = m_entries.find(key);
  if (entry == m_entries.end()) return nullptr;
  if (entry->second.preferred == 0) m_used.splice(m_used.begin(), m_used, entry->second.place);
  return entry->second.values;
}

void ActivationStore::keep(const Hash128& key, const Activations& values) {
  if (m_entries.contains(key)) return;
  m_used.push_front(key);
  const std::size_t bytes = bytesOf(*values);
  m_entries.emplace(key, Entry{values, bytes, 0, m_used.begin()});
  m_bytes += bytes;
  makeRoom();
}

void ActivationStore::makeRoom() {
  while (m_bytes > m_mostBytes && !m_used.empty()) {
    const auto oldest = m_entries.find(m_used.back());
    m_bytes -= oldest->second.bytes;
    m_entries.erase(oldest);
    m_used.pop_back();
  }
}

void ActivationStore::prefer(std::size_t run, const std::vector<Hash128>& keys) {
  for (const Hash128& key : m_runs[run]) {
    Entry& entry = m_entries.at(key);
    if (--entry.preferred > 0) continue;
    m_preferredBytes -= entry.bytes;
    m_used.push_front(key);
    entry.place = m_used.begin();
  }
  m_runs[run].clear();
  for (const Hash128& key : keys) {
    const auto entry = m_entries.find(key);
    if (entry == m_entries.end()) continue;
    if (entry->second.preferred == 0) {
      const auto bytes = static_cast<double>(m_preferredBytes + entry->second.bytes);
      if (bytes > kPreferredShare * static_cast<double>(m_mostBytes)) continue;
      m_used.erase(entry->second.place);
      m_preferredBytes += entry->second.bytes;
    }
    ++entry->second.preferred;
    m_runs[run].push_back(key);
  }
}

}  // namespace fusescope
