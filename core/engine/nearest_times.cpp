#include "engine/nearest_times.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.h"

namespace fusescope {
namespace {

/// The most items of a field that are told.
constexpr std::size_t kMostItems = 4;

/// The items that differ if both lists have the same length, else all of them.
std::pair<std::vector<std::string>, std::vector<std::string>> differingItems(const std::vector<std::string>& here,
                                                                             const std::vector<std::string>& there) {
  if (here.size() != there.size()) return {here, there};
  std::pair<std::vector<std::string>, std::vector<std::string>> differing;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i] == there[i]) continue;
    differing.first.push_back(here[i]);
    differing.second.push_back(there[i]);
  }
  return differing;
}

std::string itemsText(std::vector<std::string> items) {
  if (items.size() > kMostItems) {
    items.resize(kMostItems);
    items.emplace_back("…");
  }
  return items.empty() ? "none" : joined(items);
}

bool shareHalf(std::vector<std::string> here, std::vector<std::string> there) {
  std::ranges::sort(here);
  std::ranges::sort(there);
  std::vector<std::string> common;
  std::ranges::set_intersection(here, there, std::back_inserter(common));
  return 2 * common.size() >= std::max(here.size(), there.size());
}

std::vector<TimeDifference> conditionsThatDiffer(const WantedTimes& wanted, const TimeKeyFields& kept) {
  std::vector<TimeDifference> differs;
  const auto add = [&](const char* field, const std::string& here, const std::string& there) {
    if (here != there) differs.push_back({field, here, there});
  };
  add("backend", wanted.context.backend, kept.backend);
  add("threads", std::to_string(wanted.context.threads), std::to_string(kept.threads));
  add("machine and libraries", wanted.context.fingerprint, kept.fingerprint);
  if (kept.workspaceBytes)
    add("workspace", std::to_string(wanted.context.workspaceBytes), std::to_string(*kept.workspaceBytes));
  return differs;
}

/// The time of an equal region in equal conditions was not found, so that it is of a tactic that is not compared here.
TimeDifference tacticThatDiffers(const WantedTimes& wanted, const TimeKeyFields& kept) {
  if (std::ranges::find(wanted.tactics, kept.tactic) != wanted.tactics.end())
    return {"memory formats", "others", kept.formats};
  return {"tactic", itemsText(wanted.tactics), kept.tactic};
}

}  // namespace

NearestTimes::Region NearestTimes::regionOf(std::vector<RegionField> fields) {
  Region region{.fields = std::move(fields), .hashes = {}};
  for (const RegionField& field : region.fields) {
    KeyBuilder key;
    for (const std::string& item : field.items) key.text(item);
    region.hashes.push_back(key.hash());
  }
  return region;
}

void NearestTimes::add(std::string_view key) {
  auto fields = timeKeyFields(key);
  if (!fields) return;
  KeyBuilder conditions;
  conditions.text(fields->fingerprint).text(fields->backend).number(fields->threads).text(fields->region);
  conditions.number(fields->workspaceBytes.value_or(-1));
  if (m_kept.contains(conditions.canonical())) return;
  auto place = m_places.find(fields->region);
  if (place == m_places.end()) {
    auto parts = regionFields(fields->region);
    m_regions.push_back(regionOf(parts ? std::move(*parts) : std::vector<RegionField>()));
    place = m_places.emplace(fields->region, m_regions.size() - 1).first;
  }
  m_kept.emplace(conditions.canonical(), Kept{std::move(*fields), place->second});
}

std::vector<TimeDifference> NearestTimes::differencesFrom(const WantedTimes& wanted) const {
  auto parts = regionFields(wanted.region);
  const Region here = regionOf(parts ? std::move(*parts) : std::vector<RegionField>());
  const Kept* nearest = nullptr;
  std::pair<std::size_t, std::size_t> least;
  for (const auto& [conditions, kept] : m_kept) {
    const Region& there = m_regions[kept.region];
    const bool isEqual = kept.key.region == wanted.region;
    if (!isEqual && (here.fields.empty() || there.fields.empty())) continue;
    std::pair<std::size_t, std::size_t> distance{conditionsThatDiffer(wanted, kept.key).size(), 0};
    for (std::size_t i = 0; !isEqual && i < here.fields.size(); ++i) {
      if (here.hashes[i] == there.hashes[i]) continue;
      ++distance.first;
      distance.second += differingItems(here.fields[i].items, there.fields[i].items).first.size();
    }
    if (nearest != nullptr && distance >= least) continue;
    if (!isEqual && !shareHalf(here.fields.front().items, there.fields.front().items)) continue;
    nearest = &kept;
    least = distance;
  }
  if (nearest == nullptr) return {};
  std::vector<TimeDifference> differs;
  if (nearest->key.region != wanted.region) {
    const Region& there = m_regions[nearest->region];
    for (std::size_t i = 0; i < here.fields.size(); ++i) {
      if (here.hashes[i] == there.hashes[i]) continue;
      auto [ours, theirs] = differingItems(here.fields[i].items, there.fields[i].items);
      differs.push_back({std::string(here.fields[i].name), itemsText(std::move(ours)), itemsText(std::move(theirs))});
    }
  }
  std::ranges::move(conditionsThatDiffer(wanted, nearest->key), std::back_inserter(differs));
  if (differs.empty() && !nearest->key.tactic.empty()) differs.push_back(tacticThatDiffers(wanted, nearest->key));
  return differs;
}

}  // namespace fusescope
