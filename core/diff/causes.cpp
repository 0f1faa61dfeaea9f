#include "diff/causes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "diff/network_words.h"
#include "diff/option_differences.h"
#include "ir/graph.h"
#include "planning/applicable_options.h"
#include "planning/quantized_model.h"

namespace fusescope {

namespace {

/// Returns whether times chose types or fusions of the plan.
bool choseByPrice(const Plan& plan) {
  const auto isPriced = [](const PrecisionGrant& grant) {
    return grant.reason == TypeReason::Measured || grant.reason == TypeReason::NotMeasured;
  };
  const auto isKnown = [](const auto& product) { return product.second.known(); };
  return std::ranges::any_of(plan.precisionMap, isPriced) || !plan.priced.separate.empty() ||
         std::ranges::any_of(plan.priced.integers, isKnown) ||
         std::ranges::any_of(plan.bodies, [](const CoverBody& body) { return choseByPrice(plannedBody(body)); });
}

/// Returns the plan of a level within a plan of one side's network.
const Plan* planAt(const std::vector<PlanLevel>& levels, std::size_t place, const Plan& plan, bool ofA) {
  const PlanLevel& level = levels[place];
  if (level.around < 0) return &plan;
  const NodeId holder = ofA ? level.holderOfA : level.holderOfB;
  const Plan* around = planAt(levels, static_cast<std::size_t>(level.around), plan, ofA);
  if (around == nullptr || !holder.valid()) return nullptr;
  return around->bodyPlan(holder, level.path().steps().back().attribute);
}

/// Returns whether ranges are given exactly if int8 is asked for.
bool rangesFit(const PlanOptions& options) {
  return asksForIntegers(options) == (options.ranges != nullptr);
}

/// If the options cannot be planned, the table remains empty.
Status into(Result<std::vector<LevelFacts>> facts, std::vector<LevelFacts>& table) {
  if (!facts.ok() && facts.error().cancelled) return std::move(facts).error();
  if (facts.ok()) table = std::move(facts).value();
  return Done{};
}

}  // namespace

Result<CauseFinder> CauseFinder::make(const std::vector<PlanLevel>& levels, const std::vector<FileMatch>& files,
                                      const Plan& a, const Plan& b, PlanDiff& diff, const PriceModel* prices,
                                      const StopToken& stop) {
  CauseFinder finder(levels, files, a, b, diff);
  finder.m_options = static_cast<std::size_t>(std::ranges::count_if(diff.differences, [](const Difference& each) {
    return each.kind != DifferenceKind::Network && each.kind != DifferenceKind::Inputs;
  }));
  for (std::size_t i = finder.m_options; i < diff.differences.size(); ++i) finder.m_network = static_cast<int>(i);
  finder.m_ofA = finder.factsOfLevels(a, true);
  finder.m_ofB = finder.factsOfLevels(b, false);
  const bool byPrice = choseByPrice(a) || choseByPrice(b);
  const bool differ = finder.factsDiffer(finder.m_ofA, finder.m_ofB);
  finder.markChanged();
  if (differ && diff.differences.empty()) {
    const Difference unseen = byPrice ? Difference{DifferenceKind::Times, "the times known to A", "those known to B"}
                                      : Difference{DifferenceKind::Rules, "the rules that made A", "those that made B"};
    diff.differences.push_back(unseen);
  } else if (differ && diff.differences.size() + (byPrice ? 1 : 0) > 1 && (prices != nullptr || !byPrice)) {
    TRY(finder.planAgain(byPrice ? prices : nullptr, stop));
  }
  finder.m_asOne = finder.inseparable();
  finder.findNamed();
  return finder;
}

void CauseFinder::markChanged() {
  for (const FileMatch& files : m_files) {
    std::vector<char>& changed = m_changed.emplace_back(files.match().nodeOfB.size(), 0);
    for (const NodeId node : files.match().changed) changed[node.index] = 1;
    for (const OtherConstant& constant : files.otherConstants())
      for (const NodeId node : constant.readers) changed[node.index] = 1;
  }
}

/// Returns the options of one side with the differences of the group taken over. If the ranges and another difference
/// need each other, both are taken over.
std::optional<CauseFinder::Taken> CauseFinder::taken(const Group& group, bool ofA) const {
  const PlanOptions& own = ofA ? m_a.options : m_b.options;
  const auto fits = [&](const PlanOptions& options) { return rangesFit(options) || !rangesFit(own); };
  Taken taken{own, group};
  for (const std::size_t difference : group)
    taken.options = takenOver(std::move(taken.options), m_a.options, m_b.options, difference, ofA);
  for (std::size_t i = 0; i < m_options && !fits(taken.options); ++i) {
    if (std::ranges::find(group, i) != group.end() || m_diff.differences[i].kind != DifferenceKind::Ranges) continue;
    taken.options = takenOver(std::move(taken.options), m_a.options, m_b.options, i, ofA);
    taken.differences.push_back(i);
  }
  return fits(taken.options) ? std::optional(std::move(taken)) : std::nullopt;
}

/// Returns whether there is only one difference, or all of them can only be taken over together.
bool CauseFinder::inseparable() const {
  const std::size_t all = m_diff.differences.size();
  if (all < 2 || m_options < all || all > kMostTried) return all == 1;
  for (std::size_t i = 0; i < all; ++i)
    for (const bool ofA : {true, false})
      if (const auto one = taken({i}, ofA); one && one->differences.size() < all) return false;
  return true;
}

/// Makes one plan for each difference on each side. If prices chose, the plans are compared with what the present
/// prices choose.
Status CauseFinder::planAgain(const PriceModel* prices, const StopToken& stop) {
  if (prices != nullptr) {
    TRY(into(planned(m_a.options, true, prices, stop), m_againA));
    TRY(into(planned(m_b.options, false, prices, stop), m_againB));
    const bool other =
        (!m_againA.empty() && factsDiffer(m_ofA, m_againA)) || (!m_againB.empty() && factsDiffer(m_ofB, m_againB));
    if (other) m_diff.differences.push_back({DifferenceKind::Times, "the times known to A", "those known to B"});
  }
  if (m_options < m_diff.differences.size()) TRY(into(planned(m_b.options, true, prices, stop), m_allInA));
  return inseparable() ? Status(Done{}) : tryGroups(prices, stop);
}

/// Tries each difference alone. If there are many, tries groups of them, and then, within the limit, replaces the
/// groups that change something by their halves.
Status CauseFinder::tryGroups(const PriceModel* prices, const StopToken& stop) {
  std::deque<Group> open;
  if (m_options > kMostTried) {
    for (Group& group : differenceGroups(m_a.options, m_b.options, kMostTried)) open.push_back(std::move(group));
  } else {
    for (std::size_t i = 0; i < m_options; ++i) open.push_back({i});
  }
  const std::size_t all = open.size();
  std::deque<std::pair<Group, std::vector<Trial>>> tried;
  for (std::size_t count = 0; count < std::max(all, kMostTried); ++count) {
    if (open.empty()) {
      const auto next = std::ranges::find_if(
          tried, [&](const auto& entry) { return entry.first.size() > 1 && changesAny(entry.second); });
      if (next == tried.end() || count + 2 > kMostTried) break;
      const auto middle = next->first.begin() + std::ssize(next->first) / 2;
      open.push_back({next->first.begin(), middle});
      open.push_back({middle, next->first.end()});
      tried.erase(next);
    }
    std::vector<Trial> trials = TRY(trialsOf(open.front(), prices, stop));
    tried.emplace_back(std::move(open.front()), std::move(trials));
    open.pop_front();
  }
  for (auto& [group, trials] : tried) {
    for (Trial& trial : trials) m_trials.push_back(std::move(trial));
    if (group.size() > 1) m_groups.push_back(std::move(group));
  }
  return Done{};
}

Result<std::vector<CauseFinder::Trial>> CauseFinder::trialsOf(const Group& group, const PriceModel* prices,
                                                              const StopToken& stop) const {
  std::vector<Trial> trials;
  for (const bool ofA : {true, false}) {
    auto options = taken(group, ofA);
    if (!options) continue;
    Trial trial{.differences = std::move(options->differences), .ofA = ofA, .facts = {}};
    TRY(into(planned(options->options, ofA, prices, stop), trial.facts));
    if (!trial.facts.empty()) trials.push_back(std::move(trial));
  }
  return trials;
}

bool CauseFinder::changesAny(const std::vector<Trial>& trials) const {
  return std::ranges::any_of(trials, [&](const Trial& trial) {
    const auto& again = trial.ofA ? m_againA : m_againB;
    return factsDiffer(again.empty() ? (trial.ofA ? m_ofA : m_ofB) : again, trial.facts);
  });
}

Result<std::vector<LevelFacts>> CauseFinder::planned(const PlanOptions& options, bool ofA, const PriceModel* prices,
                                                     const StopToken& stop) const {
  const Plan& own = ofA ? m_a : m_b;
  const ApplicableOptions applicable = TRY(applicableOptions(*own.model, options, stop));
  const auto plan = TRY(makePlan(own.model, applicable.options, prices, stop, &own));
  return factsOfLevels(*plan, ofA);
}

std::vector<LevelFacts> CauseFinder::factsOfLevels(const Plan& plan, bool ofA) const {
  std::vector<LevelFacts> facts;
  for (std::size_t place = 0; place < m_levels.size(); ++place)
    facts.push_back(factsOf(m_levels[place], planAt(m_levels, place, plan, ofA), ofA));
  return facts;
}

/// Compares the facts of two plans. Nodes that only B's file has are skipped, unless options inserted them.
bool CauseFinder::factsDiffer(const std::vector<LevelFacts>& some, const std::vector<LevelFacts>& others) const {
  for (std::size_t place = 0; place < some.size(); ++place) {
    for (std::size_t i = 0; i < kAspects; ++i) {
      const auto aspect = static_cast<Aspect>(i);
      if (aspect == Aspect::Said) continue;  // equal plans may have different explanations
      for (std::uint32_t index = 0; index < some[place].of[i].size(); ++index) {
        if (some[place].at(aspect, index) == others[place].at(aspect, index)) continue;
        const bool ofB = index >= m_levels[place].match.nodeOfB.size() && !isOfValues(aspect);
        if (!ofB || !m_files[place].hasNoCounterpart(index)) return true;
      }
    }
  }
  return false;
}

int CauseFinder::directiveDifference(const Plan& plan, const Cause& by, bool ofA) const {
  const Directive* directive = findDirective(plan, by);
  if (directive == nullptr) return -1;
  const std::string text = optionText(*directive);
  for (std::size_t i = 0; i < m_options; ++i) {
    const Difference& difference = m_diff.differences[i];
    if (difference.kind == DifferenceKind::Directive && (ofA ? difference.a : difference.b) == text)
      return static_cast<int>(i);
  }
  return -1;
}

void CauseFinder::findNamed() {
  m_named.resize(m_levels.size());
  if (m_options == 0 || m_asOne) return;
  for (std::size_t place = 0; place < m_levels.size(); ++place) {
    if (m_levels[place].a != nullptr) nameDirectives(place, *m_levels[place].a, true);
    if (m_levels[place].b != nullptr) nameDirectives(place, *m_levels[place].b, false);
  }
}

void CauseFinder::nameDirectives(std::size_t place, const Cover& plan, bool ofA) {
  const PlanLevel& level = m_levels[place];
  const Plan& whole = ofA ? m_a : m_b;
  std::map<Cause, int> known;
  for (const Decision& decision : plan.decisions) {
    if (!decision.by.isDirective()) continue;
    const auto [entry, isNew] = known.try_emplace(decision.by, -1);
    if (isNew) entry->second = directiveDifference(whole, decision.by, ofA);
    if (entry->second < 0) continue;
    for (const Subject& subject : decision.subjects) {
      const auto node = subject.nodeIn(plan.graph());
      if (!node) continue;
      Found& found = m_named[place][ofA ? level.nodeNumberOfA(*node) : level.nodeNumberOfB(*node)];
      found.resize(m_diff.differences.size(), 0);
      found[static_cast<std::size_t>(entry->second)] = 1;
    }
  }
}

/// Finds the differences that make one node or value differ from that in A.
void CauseFinder::find(std::size_t place, Aspect aspect, std::uint32_t index, Found& found) const {
  const auto at = [&](const std::vector<LevelFacts>& facts) { return facts[place].at(aspect, index); };
  const std::uint64_t a = at(m_ofA), b = at(m_ofB);
  if (a == b) return;
  const std::uint64_t fromA = m_againA.empty() ? a : at(m_againA), fromB = m_againB.empty() ? b : at(m_againB);
  Found alone(found.size(), 0), takesPart(found.size(), 0);
  for (const Trial& trial : m_trials) {
    const std::uint64_t tried = at(trial.facts);
    const bool does = trial.ofA && tried != fromA && tried == fromB, changes = tried != (trial.ofA ? fromA : fromB);
    for (const std::size_t difference : trial.differences) {
      alone[difference] |= static_cast<char>(does);
      takesPart[difference] |= static_cast<char>(changes);
    }
  }
  const Found& best = std::ranges::find(alone, 1) != alone.end() ? alone : takesPart;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const DifferenceKind kind = m_diff.differences[i].kind;
    const bool byTimes = kind == DifferenceKind::Times && (a != fromA || b != fromB);
    const bool byNetwork =
        static_cast<int>(i) == m_network && (m_options == 0 || (!m_allInA.empty() && at(m_allInA) != fromB));
    if (best[i] != 0 || byTimes || byNetwork) found[i] = 1;
  }
}

/// From differences that were only tried together, keeps those that decisions about `things` name, if there are any.
void CauseFinder::keepNamed(std::size_t place, std::span<const std::uint32_t> things, Found& found) const {
  Found named(found.size(), 0);
  for (const std::uint32_t thing : things)
    if (const auto known = m_named[place].find(thing); known != m_named[place].end())
      for (std::size_t i = 0; i < named.size(); ++i) named[i] |= known->second[i];
  for (const Group& group : m_groups) {
    const auto isNamed = [&](std::size_t difference) { return found[difference] != 0 && named[difference] != 0; };
    if (std::ranges::none_of(group, isNamed)) continue;
    for (const std::size_t difference : group) found[difference] &= named[difference];
  }
}

Causes CauseFinder::ofNodes(std::size_t place, Aspect aspect, std::span<const std::uint32_t> things) const {
  const PlanLevel& level = m_levels[place];
  Found found(m_diff.differences.size(), m_asOne ? 1 : 0);
  const bool bothPlanned = level.a != nullptr && level.b != nullptr;
  for (const std::uint32_t thing : things) {
    if (m_asOne) break;
    if (!m_files[place].hasNoCounterpart(thing)) {
      find(place, aspect, thing, found);
    } else if (bothPlanned) {
      if (m_network >= 0) found[static_cast<std::size_t>(m_network)] = 1;
    }
  }
  keepNamed(place, things, found);
  if (std::ranges::find(found, 1) == found.end()) {
    for (const std::uint32_t thing : things) {
      const auto named = m_named[place].find(thing);
      for (std::size_t i = 0; named != m_named[place].end() && i < found.size(); ++i) found[i] |= named->second[i];
    }
  }
  return texts(found, place, things);
}

Causes CauseFinder::ofValue(std::size_t place, Aspect aspect, bool ofA, ValueId value) const {
  const PlanLevel& level = m_levels[place];
  Found found(m_diff.differences.size(), m_asOne ? 1 : 0);
  const std::vector<std::uint32_t> near = nodesAt(place, ofA, value);
  const ValueId inA = ofA ? value : level.match.valueOfA[value.index];
  if (inA.valid()) {
    if (!m_asOne) find(place, aspect, inA.index, found);
  } else if (m_network >= 0 && value.index < unquantizedModel(*level.b->model).graph->valueIdLimit()) {
    found[static_cast<std::size_t>(m_network)] = 1;
  }
  if (std::ranges::find(found, 1) == found.end()) return ofNodes(place, Aspect::Type, near);
  keepNamed(place, near, found);
  return texts(found, place, near);
}

std::vector<std::uint32_t> CauseFinder::nodesAt(std::size_t place, bool ofA, ValueId value) const {
  const PlanLevel& level = m_levels[place];
  const auto thing = [&](NodeId node) { return ofA ? level.nodeNumberOfA(node) : level.nodeNumberOfB(node); };
  const Value& about = (ofA ? level.a : level.b)->graph().value(value);
  std::vector<std::uint32_t> near;
  if (about.producer.valid()) near.push_back(thing(about.producer));
  for (const NodeId reader : about.consumers) near.push_back(thing(reader));
  return near;
}

Causes CauseFinder::ofDirective(const Decision* a, const Decision* b) const {
  Causes causes;
  const auto add = [&](const Decision* decision, const Plan& plan, bool ofA) {
    const int difference = decision == nullptr ? -1 : directiveDifference(plan, decision->by, ofA);
    if (difference >= 0) causes.push_back(m_diff.differences[static_cast<std::size_t>(difference)].text());
  };
  add(a, m_a, true);
  add(b, m_b, false);
  return causes;
}

Causes CauseFinder::ofPins() const {
  Causes causes;
  for (const Difference& difference : m_diff.differences)
    if (difference.a.starts_with("--pin ") || difference.b.starts_with("--pin ")) causes.push_back(difference.text());
  return causes;
}

Causes CauseFinder::texts(const Found& found, std::size_t place, std::span<const std::uint32_t> things) const {
  Causes causes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == 0) continue;
    const bool network = m_diff.differences[i].kind == DifferenceKind::Network;
    causes.push_back(network ? networkText(m_levels[place], m_files[place], m_changed[place], things)
                             : m_diff.differences[i].text());
  }
  return causes;
}

}  // namespace fusescope
