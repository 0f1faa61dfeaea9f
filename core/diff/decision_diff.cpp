#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "diff/diff_parts.h"
#include "diff/node_labels.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// Which decisions of two plans answer the same questions.
enum class Comparable { All, RefusalsOfCompilers };

/// Compares the decisions of one level of both plans, with B's names replaced by A's.
class DecisionDiff {
 public:
  DecisionDiff(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff, Comparable comparable)
      : m_level(level),
        m_place(place),
        m_causes(causes),
        m_diff(diff),
        m_comparable(comparable),
        m_sameNames(namesAgree(level)) {
    if (!m_sameNames) nameCounterparts();
  }

  void run() {
    const std::vector<std::uint32_t> ofA = compared(*m_level.a, true), ofB = compared(*m_level.b, false);
    std::vector<std::uint32_t> leftOfA = ofA, leftOfB;
    pairUp(
        leftOfA, ofB, leftOfB, [&](const Decision& decision, bool inB) { return wholeKey(decision, inB); },
        [&](const Decision& a, const Decision& b) { return equal(a, b); });
    std::vector<std::uint32_t> onlyB;
    pairUp(
        leftOfA, leftOfB, onlyB, [&](const Decision& decision, bool inB) { return aboutKey(decision, inB); },
        [&](const Decision& a, const Decision& b) {
          if (!sameSubjects(a, b)) return false;
          m_changes.emplace_back(&a, &b);
          return true;
        });
    for (const std::uint32_t i : leftOfA) m_changes.emplace_back(&m_level.a->decisions[i], nullptr);
    for (const std::uint32_t i : onlyB) m_changes.emplace_back(nullptr, &m_level.b->decisions[i]);
    std::ranges::stable_sort(m_changes, {}, [&](const auto& change) { return orderOf(change); });
    for (const auto& [a, b] : m_changes) record(a, b);
  }

 private:
  using Indices = std::vector<std::uint32_t>;

  static bool namesAgree(const PlanLevel& level) {
    if (!level.match.onlyA.empty() || !level.match.onlyB.empty()) return false;
    return std::ranges::all_of(level.a->graph().order(),
                               [&](NodeId node) { return level.match.how[node.index] != MatchedBy::Structure; });
  }

  void nameCounterparts() {
    const Graph& a = m_level.a->graph();
    const Graph& b = m_level.b->graph();
    for (const NodeId node : b.order())
      if (const NodeId other = m_level.match.nodeOfA[node.index]; other.valid())
        m_inA.emplace(b.node(node).name, a.node(other).name);
    for (const ValueId value : b.allValues())
      if (const ValueId other = m_level.match.valueOfA[value.index]; other.valid())
        m_inA.emplace(b.value(value).name, a.value(other).name);
    for (const SetGroup& group : fusedGroups(m_level))
      for (std::size_t i = 0; group.same && i < group.a.size(); ++i)
        m_inA.emplace(m_level.b->fusedNodes[group.b[i]].name, m_level.a->fusedNodes[group.a[i]].name);
  }

  const std::string& inA(const std::string& name, bool ofB) const {
    if (!ofB || m_sameNames) return name;
    const auto found = m_inA.find(name);
    return found == m_inA.end() ? name : found->second;
  }

  /// Returns the decisions that the other side could have as well. In a body, the answers to directives are left out,
  /// because the graph around it has them. For two networks, decisions about changes to the files are left out. Whether
  /// an answer was kept is not part of a plan.
  Indices compared(const Cover& plan, bool ofA) const {
    Indices all;
    for (std::uint32_t i = 0; i < plan.decisions.size(); ++i) {
      const Decision& decision = plan.decisions[i];
      if (m_level.around >= 0 && decision.by.isDirective()) continue;
      if (decision.kind == DecisionKind::Cache) continue;
      if (!m_diff.oneNetwork && decision.kind < DecisionKind::Truncate) continue;
      if (m_comparable == Comparable::RefusalsOfCompilers && !isRefusalOfCompiler(decision)) continue;
      if (!aboutOneSide(plan, decision, ofA)) all.push_back(i);
    }
    return all;
  }

  /// Refusals of compilers are compared for any two compilers.
  static bool isRefusalOfCompiler(const Decision& decision) {
    return decision.kind == DecisionKind::Build && !decision.allowed && !decision.subjects.empty();
  }

  /// Returns whether the decision is about nodes that the other network does not have.
  bool aboutOneSide(const Cover& plan, const Decision& decision, bool ofA) const {
    if (m_sameNames) return false;
    const auto& counterparts = ofA ? m_level.match.nodeOfB : m_level.match.nodeOfA;
    return !decision.subjects.empty() && std::ranges::all_of(decision.subjects, [&](const Subject& subject) {
      const auto node = subject.nodeIn(plan.graph());
      return node && !counterparts[node->index].valid();
    });
  }

  static std::uint64_t hashOf(std::string_view text) { return hashText(text).low; }

  std::uint64_t wholeKey(const Decision& decision, bool ofB) const {
    return mixed(mixed(hashOf(decision.code), byKey(decision.by)), aboutKey(decision, ofB));
  }
  std::uint64_t aboutKey(const Decision& decision, bool ofB) const {
    std::uint64_t key = static_cast<std::uint64_t>(decision.kind);
    // The order of the subjects does not matter.
    for (const Subject& subject : decision.subjects) key += mixed(hashOf(inA(subject.text(), ofB)), 1);
    return key;
  }
  /// Ids of directives differ between lists. Differences of directives are listed as differences of options.
  static std::uint64_t byKey(const Cause& by) { return mixed(hashOf(by.name), static_cast<std::uint64_t>(by.kind)); }

  /// Nodes of networks with different names may be listed in another order.
  bool sameSubjects(const Decision& a, const Decision& b) const {
    if (a.subjects.size() != b.subjects.size()) return false;
    using Named = std::pair<SubjectKind, std::string>;
    std::vector<Named> ofA, ofB;
    for (const Subject& subject : a.subjects) ofA.emplace_back(subject.kind, subject.text());
    for (const Subject& subject : b.subjects) ofB.emplace_back(subject.kind, inA(subject.text(), true));
    if (ofA == ofB) return true;
    std::ranges::sort(ofA);
    std::ranges::sort(ofB);
    return ofA == ofB;
  }

  bool equal(const Decision& a, const Decision& b) const {
    if (a.code != b.code || !sameSubjects(a, b)) return false;
    if (m_sameNames || a.arguments == b.arguments) return a.arguments == b.arguments;
    if (a.arguments.size() != b.arguments.size()) return false;
    for (const auto& [key, value] : b.arguments) {
      const DecisionArgument* other = a.arguments.find(key);
      if (other == nullptr) return false;
      const bool same = value.text() != nullptr && other->text() != nullptr ? *other->text() == inA(*value.text(), true)
                                                                            : *other == value;
      if (!same) return false;
    }
    return true;
  }

  /// Removes from `ofA` the decisions that `match` pairs with one of `ofB`; adds the rest of `ofB` to `left`.
  template <class KeyOf, class Match>
  void pairUp(Indices& ofA, const Indices& ofB, Indices& left, KeyOf keyOf, Match match) {
    std::unordered_map<std::uint64_t, Indices> byKey;
    for (const std::uint32_t i : ofA) byKey[keyOf(m_level.a->decisions[i], false)].push_back(i);
    std::vector<char> paired(m_level.a->decisions.size(), 0);
    for (const std::uint32_t i : ofB) {
      const Decision& decision = m_level.b->decisions[i];
      const auto candidates = byKey.find(keyOf(decision, true));
      const auto found = candidates == byKey.end()
                             ? Indices::iterator()
                             : std::ranges::find_if(candidates->second, [&](std::uint32_t candidate) {
                                 return match(m_level.a->decisions[candidate], decision);
                               });
      if (candidates == byKey.end() || found == candidates->second.end()) {
        left.push_back(i);
        continue;
      }
      paired[*found] = 1;
      candidates->second.erase(found);
    }
    std::erase_if(ofA, [&](std::uint32_t i) { return paired[i] != 0; });
  }

  /// Sorts by B's order, followed by the decisions that only A has.
  std::pair<std::ptrdiff_t, std::ptrdiff_t> orderOf(const std::pair<const Decision*, const Decision*>& change) const {
    if (change.second != nullptr) return {0, change.second - m_level.b->decisions.data()};
    return {1, change.first - m_level.a->decisions.data()};
  }

  void record(const Decision* a, const Decision* b) {
    DecisionChange change{.a = a, .b = b, .body = m_level.path()};
    if (b != nullptr) change.indexInB = static_cast<std::uint32_t>(b - m_level.b->decisions.data());
    if (m_causes != nullptr) change.because = causesOf(a, b);
    m_diff.decisions.push_back(std::move(change));
  }

  /// Returns why the node of a decision calculates in its type; null if the decision is about no node.
  static const PrecisionGrant* grantOf(const Cover& plan, const Decision* decision) {
    if (decision == nullptr || decision->kind != DecisionKind::Precision || decision->subjects.empty()) return nullptr;
    const auto node = decision->subjects.front().nodeIn(plan.graph());
    const auto found =
        node ? std::ranges::find(plan.precisionMap, *node, &PrecisionGrant::node) : plan.precisionMap.end();
    return found == plan.precisionMap.end() ? nullptr : &*found;
  }

  /// If the options of one side chose the type that the other side's file contains, for example after an export, both
  /// are the cause.
  Causes ofDeclaredType(const Decision* a, const Decision* b) const {
    const PrecisionGrant* ofA = grantOf(*m_level.a, a);
    const PrecisionGrant* ofB = grantOf(*m_level.b, b);
    if (ofA == nullptr || ofB == nullptr) return {};
    const bool inB = ofB->reason == TypeReason::Default;
    if (inB == (ofA->reason == TypeReason::Default) || ofA->granted != ofB->granted) return {};
    Causes causes;
    for (const Difference& difference : m_diff.differences)
      if (difference.kind == DifferenceKind::Precision) causes.push_back(difference.text());
    causes.push_back(std::string("the networks: the file of ") + (inB ? "B" : "A") + " itself declares " +
                     toText(ofB->granted));
    return causes;
  }

  /// Returns whether the decision states the price of all pins of a plan together.
  static bool isTogether(const Cover& cover, const Decision* decision) {
    const Plan* plan = asPlan(cover);
    return decision != nullptr && plan != nullptr && plan->pinsTogether &&
           decision == plan->decisions.data() + plan->pinsTogether->decision;
  }

  /// Returns the directive that caused the decision; otherwise what changed its nodes.
  Causes causesOf(const Decision* a, const Decision* b) const {
    if (m_diff.differences.size() > 1) {
      Causes causes = m_causes->ofDirective(a, b);
      if (causes.empty() && !m_diff.oneNetwork) causes = ofDeclaredType(a, b);
      if (!causes.empty()) return causes;
    }
    const Decision& decision = a != nullptr ? *a : *b;
    const bool together = isTogether(*m_level.a, a) || isTogether(*m_level.b, b);
    if (together && m_diff.differences.size() > 1) return m_causes->ofPins();
    const std::vector<std::uint32_t> things = thingsOfSubjects(decision, a != nullptr);
    const auto aspects = decision.kind == DecisionKind::Fuse        ? std::array{Aspect::Kernel, Aspect::Type}
                         : decision.kind == DecisionKind::Precision ? std::array{Aspect::Type, Aspect::Kernel}
                         : decision.kind == DecisionKind::Quantize  ? std::array{Aspect::Type, Aspect::Kernel}
                                                                    : std::array{Aspect::Segment, Aspect::Type};
    for (const Aspect aspect : aspects)
      if (Causes causes = m_causes->ofNodes(m_place, aspect, things); !causes.empty()) return causes;
    return m_sameNames ? m_causes->ofNodes(m_place, Aspect::Said, things) : Causes();
  }

  /// Returns the nodes of the decision. If it is only about values, and if only codes or a single difference can be the
  /// cause, returns the nodes that calculate and read these values.
  std::vector<std::uint32_t> thingsOfSubjects(const Decision& decision, bool ofA) const {
    const Graph& graph = (ofA ? m_level.a : m_level.b)->graph();
    std::vector<std::uint32_t> things, near;
    for (const Subject& subject : decision.subjects) {
      if (subject.kind == SubjectKind::Node) {
        const auto node = subject.nodeIn(graph);
        if (node) things.push_back(ofA ? m_level.nodeNumberOfA(*node) : m_level.nodeNumberOfB(*node));
      } else if (const auto value = graph.findValue(subject.text()); value && subject.kind == SubjectKind::Value) {
        for (const std::uint32_t thing : m_causes->nodesAt(m_place, ofA, *value)) near.push_back(thing);
      }
    }
    const bool byValues = decision.kind == DecisionKind::Quantize || m_diff.differences.size() == 1;
    return things.empty() && byValues ? near : things;
  }

  const PlanLevel& m_level;
  std::size_t m_place;
  CauseFinder* m_causes;
  PlanDiff& m_diff;
  Comparable m_comparable;
  bool m_sameNames;
  std::unordered_map<std::string, std::string> m_inA;  ///< for each name of B that differs, A's name
  std::vector<std::pair<const Decision*, const Decision*>> m_changes;
};

}  // namespace

void addDecisionChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return;
  // Decisions about one compiler and about another do not answer the same questions, except for refusals.
  const bool ofOneCompiler = level.a->options.compiler == level.b->options.compiler;
  const Comparable comparable = level.isPlanned() || ofOneCompiler ? Comparable::All : Comparable::RefusalsOfCompilers;
  DecisionDiff(level, place, causes, diff, comparable).run();
}

}  // namespace fusescope
