#include "cache/shared_times.h"

#include <chrono>

#include "base/elapsed.h"
#include "base/hash.h"
#include "base/key_fields.h"
#include "base/version.h"

namespace fusescope {
namespace {

constexpr std::string_view kTimesFormat = "fusescope.times.1";
constexpr double kMostMsInVain = 500;

}  // namespace

std::string packedTimes(const std::vector<KeptTime>& times) {
  KeyBuilder bytes;
  bytes.text(kTimesFormat);
  for (const KeptTime& time : times) {
    bytes.text(time.key).text(time.measured.day).number(time.measured.quiet ? 1 : 0).number(time.hasWorkload ? 1 : 0);
    bytes.text(time.workload.series).number(time.workload.work).number(time.workload.traffic);
    bytes.number(time.measured.ms).number(time.measured.median).number(time.measured.spread);
  }
  return bytes.canonical();
}

std::vector<KeptTime> unpackedTimes(std::string_view bytes) {
  KeyFields fields(bytes);
  if (fields.text() != kTimesFormat) return {};
  std::vector<KeptTime> times;
  while (!fields.isAtEnd()) {
    KeptTime time{.key = std::string(fields.text())};
    time.measured.day = fields.text();
    time.measured.quiet = fields.number<int>() != 0;
    time.hasWorkload = fields.number<int>() != 0;
    time.workload.series = fields.text();
    time.workload.work = fields.number<double>();
    time.workload.traffic = fields.number<double>();
    time.measured.ms = fields.number<double>();
    time.measured.median = fields.number<double>();
    time.measured.spread = fields.number<double>();
    times.push_back(std::move(time));
  }
  return fields.isWhole() ? times : std::vector<KeptTime>();
}

/// Times that were noted here stay, because they are newer.
void SharedTimes::ask(const std::string& key, Group& group) {
  if (group.isAsked) return;
  group.isAsked = true;
  if (m_msInVain > kMostMsInVain) return;
  const auto start = std::chrono::steady_clock::now();
  const auto kept = m_place->find(kTimesKind, key);
  if (!kept) {
    m_msInVain += msSince(start);
    return;
  }
  for (KeptTime& time : unpackedTimes(kept->bytes))
    if (m_groupOf(time.key) == key) group.times.try_emplace(time.key, time);
}

std::vector<KeptTime> SharedTimes::ask(std::string_view key) {
  const std::string name = m_groupOf(key);
  if (name.empty()) return {};
  const std::lock_guard lock(m_mutex);
  Group& group = m_groups[name];
  if (group.isAsked) return {};
  ask(name, group);
  std::vector<KeptTime> times;
  for (const auto& [each, time] : group.times) times.push_back(time);
  return times;
}

void SharedTimes::note(const KeptTime& time) {
  const std::string name = m_groupOf(time.key);
  if (name.empty() || !m_place->keepsNew()) return;
  const std::lock_guard lock(m_mutex);
  Group& group = m_groups[name];
  group.isChanged = true;
  group.times.insert_or_assign(time.key, time);
}

void SharedTimes::write() {
  const std::lock_guard lock(m_mutex);
  for (auto& [name, group] : m_groups) {
    if (!group.isChanged) continue;
    ask(name, group);
    std::vector<KeptTime> times;
    double madeMs = 0;
    for (const auto& [key, time] : group.times) {
      times.push_back(time);
      madeMs += msToMeasure(time.measured);
    }
    const bool isKept = m_place->keep({.kind = std::string(kTimesKind),
                                       .about = "measured times of kernels",
                                       .madeBy = std::string(kFusescopeVersion),
                                       .madeMs = madeMs},
                                      name, packedTimes(times));
    group.isChanged = !isKept;
  }
}

}  // namespace fusescope
