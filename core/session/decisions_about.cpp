#include "session/decisions_about.h"

#include "base/json.h"

#include <algorithm>
#include <set>

namespace fusescope {

Json decisionsAbout(const std::vector<Decision>& decisions, const std::vector<Subject>& subjects) {
  std::set<std::uint32_t> wanted;
  std::vector<std::uint32_t> pending;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const auto& about = decisions[i].subjects;
    const auto named = [&](const Subject& subject) { return std::ranges::find(about, subject) != about.end(); };
    if (std::ranges::any_of(subjects, named)) pending.push_back(static_cast<std::uint32_t>(i));
  }
  while (!pending.empty()) {
    const auto index = pending.back();
    pending.pop_back();
    if (index >= decisions.size() || !wanted.insert(index).second) continue;
    const auto& evidence = decisions[index].evidence;
    pending.insert(pending.end(), evidence.begin(), evidence.end());
  }
  const std::vector<std::uint32_t> order(wanted.begin(), wanted.end());
  Json list = Json::array();
  for (const auto index : order) {
    Decision decision = decisions[index];
    for (auto& evidence : decision.evidence)
      evidence = static_cast<std::uint32_t>(std::ranges::lower_bound(order, evidence) - order.begin());
    list.push_back(toJson(decision));
  }
  return list;
}

bool isTypeNotGiven(const Decision& decision) {
  return decision.code == "precision.type_not_offered" || decision.code == "build.hint_granted";
}

std::vector<Decision> typesNotGiven(const Cover& cover) {
  std::vector<Decision> found;
  for (const Decision& decision : cover.decisions)
    if (isTypeNotGiven(decision) && std::ranges::find(found, message(decision), message) == found.end())
      found.push_back(decision);
  return found;
}

}  // namespace fusescope
