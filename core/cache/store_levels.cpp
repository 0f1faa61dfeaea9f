#include "cache/store_levels.h"

#include <algorithm>

namespace fusescope {

std::optional<Kept> StoreLevels::find(std::string_view kind, std::string_view key) {
  for (auto level = m_levels.begin(); level != m_levels.end(); ++level) {
    auto kept = (*level)->find(kind, key);
    if (!kept) continue;
    KeptFacts facts = kept->facts;
    facts.madeAt = kept->madeAt;
    for (auto nearer = m_levels.begin(); nearer != level; ++nearer) (*nearer)->keep(facts, key, kept->bytes);
    return kept;
  }
  return std::nullopt;
}

bool StoreLevels::keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) {
  bool isKept = false;
  for (const auto& level : m_levels) isKept |= level->keep(facts, key, bytes);
  return isKept;
}

bool StoreLevels::keepsNew() const {
  return std::ranges::any_of(m_levels, [](const auto& level) { return level->keepsNew(); });
}

double StoreLevels::msToLoad(std::string_view kind, std::uint64_t bytes) {
  return m_levels.empty() ? 0 : m_levels.front()->msToLoad(kind, bytes);
}

std::string StoreLevels::problem() const {
  std::string all;
  for (const auto& level : m_levels)
    if (const std::string problem = level->problem(); !problem.empty()) all += (all.empty() ? "" : "; ") + problem;
  return all;
}

std::vector<DamagedEntry> StoreLevels::takeDamaged() {
  std::vector<DamagedEntry> all;
  for (const auto& level : m_levels)
    for (DamagedEntry& entry : level->takeDamaged()) all.push_back(std::move(entry));
  return all;
}

}  // namespace fusescope
