#include "session/documents/decisions_about.h"

#include "base/json.h"
#include "engine/engine.h"

#include <algorithm>
#include <array>
#include <set>

namespace fusescope {

namespace {

constexpr std::array<std::string_view, 7> kAboutStore{"cache.found",
                                                      "cache.compiled_saved",
                                                      "cache.compiled_loaded",
                                                      "cache.compiled_slower",
                                                      "cache.compiled_not_loaded",
                                                      "cache.entry_damaged",
                                                      "cache.store"};

/// Adds the decisions that `isWanted` accepts, without those whose sentence `found` has already.
void addOnce(const std::vector<Decision>& decisions, bool (*isWanted)(const Decision&), std::vector<Decision>& found) {
  for (const Decision& decision : decisions)
    if (isWanted(decision) && std::ranges::find(found, message(decision), message) == found.end())
      found.push_back(decision);
}

}  // namespace

Json decisionsAbout(const std::vector<Decision>& decisions, const std::vector<Subject>& subjects,
                    const std::function<bool(const Decision&)>& isLeftOut) {
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
    if (index >= decisions.size() || (isLeftOut && isLeftOut(decisions[index])) || !wanted.insert(index).second)
      continue;
    const auto& evidence = decisions[index].evidence;
    pending.insert(pending.end(), evidence.begin(), evidence.end());
  }
  const std::vector<std::uint32_t> order(wanted.begin(), wanted.end());
  Json list = Json::array();
  for (const auto index : order) {
    Decision decision = decisions[index];
    std::erase_if(decision.evidence, [&](std::uint32_t evidence) { return !wanted.contains(evidence); });
    for (auto& evidence : decision.evidence)
      evidence = static_cast<std::uint32_t>(std::ranges::lower_bound(order, evidence) - order.begin());
    list.push_back(toJson(decision));
  }
  return list;
}

bool isPredictionAnswered(const ReadBackPlan& made, const Decision& decision) {
  if (decision.code != "fuse.predicted" && decision.code != "fuse.predicted_alone") return false;
  return std::ranges::all_of(decision.subjects, [&](const Subject& subject) {
    const auto node = subject.nodeIn(made.graph());
    return node && made.fateOf(*node) != Fate::NotDisclosed;
  });
}

bool isTypeNotGiven(const Decision& decision) {
  return decision.code == "precision.type_not_offered" || decision.code == "build.hint_granted";
}

std::vector<Decision> typesNotGiven(const Cover& cover) {
  std::vector<Decision> found;
  addOnce(cover.decisions, isTypeNotGiven, found);
  return found;
}

bool isAboutStore(const Decision& decision) {
  return std::ranges::find(kAboutStore, decision.code) != kAboutStore.end();
}

bool isAboutTimes(const Decision& decision) {
  return decision.code == "cache.damaged" || decision.code == "cache.unavailable" ||
         decision.code == "cache.times_not_kept";
}

std::vector<Decision> remarksAboutEngine(const Engine& engine) {
  std::vector<Decision> said = typesNotGiven(*engine.made());
  addOnce(engine.report().decisions, isAboutStore, said);
  return said;
}

Json saidOfEngineJson(const Engine& engine) {
  Json list = Json::array();
  for (const Decision& decision : remarksAboutEngine(engine)) list.push_back(toJson(decision));
  return list;
}

}  // namespace fusescope
