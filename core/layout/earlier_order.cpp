#include "layout/earlier_order.h"

#include <algorithm>

namespace fusescope {

bool EarlierOrder::isKnown(int level, int node) const {
  const Level& of = m_levels[level];
  return !of.earlier.empty() && !of.state.isBend(node) && of.earlier[node].has_value();
}

double EarlierOrder::middle(int level, int node) const {
  const PlacedRect& rect = *m_levels[level].earlier[node];
  return rect.x + rect.width / 2;
}

bool EarlierOrder::isKept(int level, const std::vector<int>& rank) const {
  int last = -1;
  for (const int v : rank) {
    if (!isKnown(level, v)) continue;
    if (last >= 0 && middle(level, last) > middle(level, v)) return false;
    last = v;
  }
  return true;
}

void EarlierOrder::arrange(int level, std::vector<int>& rank) const {
  if (m_levels[level].earlier.empty()) return;
  std::vector<int> known;
  for (const int v : rank)
    if (isKnown(level, v)) known.push_back(v);
  std::stable_sort(known.begin(), known.end(), [&](int a, int b) { return middle(level, a) < middle(level, b); });
  auto next = known.begin();
  for (int& v : rank)
    if (isKnown(level, v)) v = *next++;
}

void EarlierOrder::makeAscending(int level, std::vector<std::pair<double, int>>& keyed) const {
  if (m_levels[level].earlier.empty()) return;
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < keyed.size(); ++i)
    if (isKnown(level, keyed[i].second)) known.push_back(i);
  std::stable_sort(known.begin(), known.end(), [&](std::size_t a, std::size_t b) {
    return middle(level, keyed[a].second) < middle(level, keyed[b].second);
  });
  std::vector<std::pair<double, int>> runs;  // mean, count
  for (const std::size_t i : known) {
    runs.emplace_back(keyed[i].first, 1);
    while (runs.size() > 1 && runs[runs.size() - 2].first > runs.back().first) {
      const auto [mean, count] = runs.back();
      runs.pop_back();
      auto& before = runs.back();
      before.first = (before.first * before.second + mean * count) / (before.second + count);
      before.second += count;
    }
  }
  auto next = known.begin();
  for (const auto& [mean, count] : runs)
    for (int i = 0; i < count; ++i) keyed[*next++].first = mean;
}

}  // namespace fusescope
