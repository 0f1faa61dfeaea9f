#include "session/reports/report_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "ir/graph.h"
#include "session/compare.h"
#include "session/documents/compare_report.h"
#include "session/documents/report_json.h"
#include "session/reports/report_times.h"
#include "session/runs/run_conditions.h"

namespace fusescope {

namespace {

/// What one difference says about some kernels of A and B.
struct KernelChange {
  std::string what;
  Causes because;
};

/// The changes by the identity of each fused node that they concern.
using ChangesByKernel = std::map<Hash128, KernelChange>;

ChangesByKernel changesByKernel(const PlanDiff& diff, const Cover& a, const Cover& b) {
  ChangesByKernel changes;
  for (const TypeChange& change : diff.types) {
    if (change.thing != TypedThing::FusedNode) continue;
    for (const auto& [cover, name] : {std::pair(&a, &change.name), std::pair(&b, &change.nameInB)})
      if (const FusedNode* fused = cover->findFusedNode(*name))
        changes[fused->identity] = {fmt::format("calculates in {} → {}", change.a, change.b), change.because};
  }
  for (const FusionChange& change : diff.fusions)
    for (const auto* side : {&change.a, &change.b})
      for (const CoveringNode& node : *side)
        changes[node.identity] = {fmt::format("fusion {}", name(change.change)), change.because};
  return changes;
}

/// A group of kernels, its time on each side, and why it differs.
class GroupRow {
 public:
  GroupRow(const CompareGroup& group, const ReportSide& a, const ReportSide& b, const ReportTimes& timesOfA,
           const ReportTimes& timesOfB)
      : m_group(&group),
        m_a(&a),
        m_b(&b),
        m_msOfA(timeOf(a, timesOfA, group.a)),
        m_msOfB(timeOf(b, timesOfB, group.b)) {}

  std::optional<double> delta() const {
    const auto side = [](const KnownTime& time, bool none) { return none ? std::optional(0.0) : time.ms; };
    const auto ofA = side(m_msOfA, m_group->a.empty()), ofB = side(m_msOfB, m_group->b.empty());
    return ofA && ofB ? std::optional(*ofB - *ofA) : std::nullopt;
  }
  const KernelChange* change(const ChangesByKernel& changes) const {
    for (const auto* side : {&m_group->a, &m_group->b})
      for (const CoveringNode& node : *side)
        if (const auto found = changes.find(node.identity); found != changes.end()) return &found->second;
    return nullptr;
  }
  /// Returns "attention → matmul + softmax + matmul", which is equal for copies of a block.
  std::string kinds() const {
    const std::string ofA = kindsOf(*m_a, m_group->a), ofB = kindsOf(*m_b, m_group->b);
    if (ofA == ofB) return ofA;
    return (ofA.empty() ? "nothing" : ofA) + " → " + (ofB.empty() ? "nothing" : ofB);
  }
  Json json(const ChangesByKernel& changes) const {
    const KernelChange* why = change(changes);
    return {{"a", namesOf(m_group->a)},
            {"b", namesOf(m_group->b)},
            {"nodes", m_group->origins},
            {"kinds", kinds()},
            {"same", m_group->same && why == nullptr},
            {"change", why == nullptr ? Json(nullptr) : Json(why->what)},
            {"because", why == nullptr ? Json::array() : Json(why->because)},
            {"a_time", toJson(m_msOfA)},
            {"b_time", toJson(m_msOfB)},
            {"delta_ms", optionalNumber(delta())}};
  }
  std::string name() const {
    const auto& side = m_group->a.empty() ? m_group->b : m_group->a;
    std::vector<std::string> names;
    for (const CoveringNode& node : side) names.push_back(node.place.text());
    return joined(names, " | ");
  }

 private:
  static const FusedNode& fusedOf(const ReportSide& side, const CoveringNode& node) {
    return side.known.cover->fusedNodes[node.id.index];
  }
  static KnownTime timeOf(const ReportSide& side, const ReportTimes& times, const std::vector<CoveringNode>& nodes) {
    std::vector<KnownTime> each;
    for (const CoveringNode& node : nodes) each.push_back(times.of(fusedOf(side, node)));
    return sumOf(each);
  }
  static std::string kindsOf(const ReportSide& side, const std::vector<CoveringNode>& nodes) {
    std::vector<std::string> kinds;
    for (const CoveringNode& node : nodes) kinds.push_back(fusedOf(side, node).kind);
    return joined(kinds, " + ");
  }
  static Json namesOf(const std::vector<CoveringNode>& nodes) {
    Json names = Json::array();
    for (const CoveringNode& node : nodes) names.push_back(node.place.text());
    return names;
  }

  const CompareGroup* m_group;
  const ReportSide *m_a, *m_b;
  KnownTime m_msOfA, m_msOfB;
};

/// Collects changes that have the same text and cause into one entry, however many places they concern.
class AlikeChanges {
 public:
  void add(const std::string& what, const Causes& because, const std::string& where, std::optional<double> deltaMs,
           bool timed) {
    const auto [entry, isNew] = m_places.try_emplace({what, because}, m_all.size());
    if (isNew) m_all.push_back({.what = what, .because = because});
    Change& change = m_all[entry->second];
    change.where.push_back(where);
    if (!timed) return;
    change.timed += 1;
    if (!deltaMs) return;
    change.known += 1;
    change.deltaMs += *deltaMs;
  }
  /// Returns the entries, those with the largest difference in time first.
  Json json() {
    std::ranges::stable_sort(m_all, std::ranges::greater(), [](const Change& c) { return std::abs(c.deltaMs); });
    Json list = Json::array();
    for (const Change& change : m_all) {
      const bool known = change.timed > 0 && change.known == change.timed;
      list.push_back({{"what", change.what},
                      {"because", change.because},
                      {"count", change.where.size()},
                      {"where", change.where},
                      {"delta_ms", known ? jsonNumber(change.deltaMs) : Json(nullptr)},
                      {"is_timed", change.timed > 0}});
    }
    return list;
  }

 private:
  struct Change {
    std::string what;
    Causes because;
    std::vector<std::string> where{};
    std::int64_t timed = 0, known = 0;
    double deltaMs = 0;
  };
  std::map<std::pair<std::string, Causes>, std::size_t> m_places;
  std::vector<Change> m_all;
};

void addOthers(const PlanDiff& diff, AlikeChanges& changes) {
  for (const SegmentChange& change : diff.segments) {
    const std::string what = change.runByA.empty() && change.runByB.empty()
                                 ? fmt::format("segment {}", name(change.change))
                                 : fmt::format("run by {} → {}", change.runByA, change.runByB);
    changes.add(what, change.because, joined(change.a.empty() ? change.b : change.a), std::nullopt, false);
  }
  for (const FateChange& change : diff.fates)
    changes.add(fmt::format("{} → {}", change.a, change.b), change.because, change.node, std::nullopt, false);
  for (const CastChange& change : diff.casts)
    changes.add(
        fmt::format("conversion {} → {} {}", name(change.from), name(change.to), change.added ? "added" : "gone"),
        change.because, change.value, std::nullopt, false);
  for (const TypeChange& change : diff.types)
    if (change.thing == TypedThing::Value)
      changes.add(fmt::format("stored in {} → {}", change.a, change.b), change.because, change.name, std::nullopt,
                  false);
}

Json networkJson(const PlanDiff& diff) {
  Json changed = Json::array();
  for (const ChangedNode& node : diff.changed) changed.push_back({{"a", node.a}, {"b", node.b}, {"what", node.what}});
  return {{"one_network", diff.oneNetwork}, {"matched", diff.matched},
          {"only_a", diff.onlyA},           {"only_b", diff.onlyB},
          {"changed", std::move(changed)},  {"constants_that_differ", diff.constants.size()}};
}

/// Returns the conditions that differ between the measurements of two sides; none if a side was not measured.
Json conditionsThatDiffer(const ReportSide& a, const ReportSide& b) {
  Json differ = Json::array();
  if (a.run == nullptr || b.run == nullptr || !a.run->time || !b.run->time) {
    const auto timed = [](const ReportSide& side) { return side.run != nullptr && side.run->time; };
    if (timed(a) != timed(b)) differ.push_back("one was timed, the other is predicted");
    return differ;
  }
  for (const std::string& what : unlikeConditions(*a.run, *b.run)) differ.push_back(what);
  return differ;
}

}  // namespace

Json differenceJson(const ReportSide& a, const ReportSide& b, const PlanDiff& diff) {
  const ReportTimes timesOfA(a), timesOfB(b);
  const ChangesByKernel byKernel = changesByKernel(diff, *a.known.cover, *b.known.cover);
  const std::vector<CompareGroup> groups = compareGroups(*a.known.cover, *b.known.cover);
  std::vector<GroupRow> rows;
  std::int64_t inBodies = 0;
  for (const CompareGroup& group : groups) {
    if (group.body.isNetwork()) {
      rows.emplace_back(group, a, b, timesOfA, timesOfB);
    } else {
      ++inBodies;  // they are counted with their holders
    }
  }
  AlikeChanges alike;
  for (const GroupRow& row : rows)
    if (const KernelChange* change = row.change(byKernel))
      alike.add(change->what + ": " + row.kinds(), change->because, row.name(), row.delta(), true);
  addOthers(diff, alike);
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const GroupRow& row) { return std::abs(row.delta().value_or(0)); });
  Json options = Json::array(), list = Json::array();
  for (const Difference& difference : diff.differences)
    options.push_back({{"kind", name(difference.kind)}, {"a", difference.a}, {"b", difference.b}});
  for (const GroupRow& row : rows) list.push_back(row.json(byKernel));
  return {{"same", diff.same()},
          {"causes_known", diff.causesKnown},
          {"conditions_that_differ", conditionsThatDiffer(a, b)},
          {"options", std::move(options)},
          {"network", networkJson(diff)},
          {"changes", alike.json()},
          {"groups", std::move(list)},
          {"groups_in_bodies", inBodies}};
}

}  // namespace fusescope
