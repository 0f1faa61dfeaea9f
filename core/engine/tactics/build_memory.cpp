#include "engine/tactics/build_memory.h"

#include <algorithm>
#include <utility>

#include "base/process_memory.h"

namespace fusescope {
namespace {

constexpr std::size_t kShareOfMemory = 8;  // of the machine: one part in so many is held
constexpr std::int64_t kMostHeldBytes = std::int64_t{1} << 30;
constexpr std::size_t kMostCodes = 20'000;

template <class Value>
std::optional<Value> copied(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace

BuildMemory::BuildMemory(std::int64_t mostBytes) : m_mostBytes(mostBytes) {
  if (mostBytes <= 0)
    m_mostBytes =
        static_cast<std::int64_t>(std::min(mostMemory() / kShareOfMemory, static_cast<std::size_t>(kMostHeldBytes)));
}

BuildMemory::Tactics BuildMemory::tactics(const std::string& key) {
  const std::lock_guard lock(m_mutex);
  const Tactics* found = m_tactics.find(key, m_build);
  return found == nullptr ? nullptr : *found;
}

std::optional<KernelTime> BuildMemory::time(const std::string& key) {
  const std::lock_guard lock(m_mutex);
  return copied(m_times.find(key, m_build));
}

std::optional<double> BuildMemory::conversionMs(const std::string& key) {
  const std::lock_guard lock(m_mutex);
  return copied(m_conversions.find(key, m_build));
}

std::optional<double> BuildMemory::onlyMs(const std::string& key) {
  const std::lock_guard lock(m_mutex);
  return copied(m_onlyMs.find(key, m_build));
}

void BuildMemory::keepTactics(const std::string& key, Tactics tactics) {
  const std::lock_guard lock(m_mutex);
  m_tactics.keep(key, std::move(tactics), m_build);
}

void BuildMemory::keepTime(const std::string& key, const KernelTime& time) {
  const std::lock_guard lock(m_mutex);
  m_times.keep(key, time, m_build);
}

void BuildMemory::keepConversionMs(const std::string& key, double ms) {
  const std::lock_guard lock(m_mutex);
  m_conversions.keep(key, ms, m_build);
}

void BuildMemory::keepOnlyMs(const std::string& key, double ms) {
  const std::lock_guard lock(m_mutex);
  m_onlyMs.keep(key, ms, m_build);
}

bool BuildMemory::wasBuilt(const std::string& key) {
  const std::lock_guard lock(m_mutex);
  return m_built.find(key, m_build) != nullptr;
}

void BuildMemory::endBuild(const std::set<std::string>& regions,
                           const std::vector<std::shared_ptr<const Kernel>>& kernels) {
  const std::lock_guard lock(m_mutex);
  for (const std::string& region : regions) m_built.keep(region, true, m_build);
  for (const auto& kernel : kernels) {
    m_parts[kernel->code().get()] = {.code = kernel->code(), .weight = nullptr, .build = m_build};
    PackedSet weights;
    kernel->addWeights(weights);
    for (const auto& weight : weights) m_parts[weight.get()] = {.code = nullptr, .weight = weight, .build = m_build};
  }
  letGo();
  m_tactics.bound(m_build);
  m_times.bound(m_build);
  m_conversions.bound(m_build);
  m_onlyMs.bound(m_build);
  m_built.bound(m_build);
  ++m_build;
}

std::int64_t BuildMemory::heldBytes() const {
  PackedSet weights;
  for (const auto& [address, part] : m_parts)
    if (part.weight != nullptr) weights.insert(part.weight);
  return bytesOf(weights);
}

/// What the oldest builds used goes first.
void BuildMemory::letGo() {
  std::int64_t held = heldBytes();
  if (held <= m_mostBytes && m_parts.size() <= kMostCodes) return;
  std::vector<std::pair<std::int64_t, const void*>> byAge;
  for (const auto& [address, part] : m_parts) byAge.emplace_back(part.build, address);
  std::ranges::sort(byAge);
  for (const auto& [build, address] : byAge) {
    const bool isFull = held > m_mostBytes, isMany = m_parts.size() > kMostCodes;
    if (!isFull && !isMany) return;
    const auto part = m_parts.find(address);
    const std::int64_t bytes = part->second.bytes();
    if (!isMany && bytes == 0) continue;  // it makes no room
    held -= bytes;
    m_parts.erase(part);
  }
}

BuildMemory::Held BuildMemory::held() const {
  const std::lock_guard lock(m_mutex);
  Held held{.bytes = heldBytes()};
  for (const auto& [address, part] : m_parts) ++(part.code != nullptr ? held.codes : held.weights);
  return held;
}

}  // namespace fusescope
