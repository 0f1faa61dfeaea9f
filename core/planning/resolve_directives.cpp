#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "planning/directive_answers.h"
#include "planning/directive_map.h"
#include "planning/match_pattern.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

class Resolver {
 public:
  Resolver(const Model& model, const Target& target, const Directives& directives, const StopToken& stop)
      : m_graph(*model.graph), m_matcher(model), m_answers(model), m_directives(directives), m_stop(stop) {
    for (std::vector<int>* table : {&m_map.pin, &m_map.fallback, &m_map.split}) {
      table->assign(m_graph.nodeIdLimit(), -1);
    }
    m_map.outputType.assign(m_graph.valueIdLimit(), -1);
    m_map.outputTypesOf.resize(m_graph.valueIdLimit());
    m_map.pinsOf.resize(m_graph.nodeIdLimit());
    m_map.nodesOf.resize(directives.size());
    m_map.inBodiesOf.resize(directives.size());
    m_map.minSegment = target.defaultMinSegment;
  }

  Result<DirectiveMap> run() {
    std::set<std::string> ids;
    for (std::size_t i = 0; i < m_directives.size(); ++i) {
      if (!ids.insert(m_directives[i].id).second) {
        return Diagnostic{.message = "two directives have the id '" + m_directives[i].id + "'",
                          .where = {.attribute = "id"},
                          .help = "Ids are unique; leave them out to have them numbered."};
      }
      TRY(resolve(static_cast<int>(i)));
    }
    orderPins(m_map.pinsOf);
    orderPins(m_map.outputTypesOf);
    explainOverridden();
    return std::move(m_map);
  }

 private:
  const Directive& at(int index) const { return m_directives[static_cast<std::size_t>(index)]; }
  std::string nameOf(int index) const { return directiveName(at(index)); }

  Status resolve(int index) {
    const Directive& directive = at(index);
    switch (directive.kind) {
      case DirectiveKind::Pin:
        return resolvePin(index);
      case DirectiveKind::PinOutput:
        return resolveOutputType(index);
      case DirectiveKind::Fallback:
        return resolveEach(m_map.fallback, index);
      case DirectiveKind::Split:
        return resolveEach(m_map.split, index);
      case DirectiveKind::NoFuse:
        return resolveNoFuse(index);
      case DirectiveKind::Tactic:
        return resolveTactic(index);
      case DirectiveKind::Truncate:
        m_map.truncate = directive.truncate;
        return takeOver(m_map.truncateDirective, index);
      case DirectiveKind::MinSegment:
        if (directive.number < 1) {
          return Diagnostic{
              .message = "the smallest segment must have at least 1 node, not " + std::to_string(directive.number),
              .where = {.attribute = "--min-segment"}};
        }
        m_map.minSegment = static_cast<std::size_t>(directive.number);
        return takeOver(m_map.minSegmentDirective, index);
    }
    return Done{};
  }

  /// Matches the pattern and answers for all that it names outside the graph's nodes.
  Result<PatternMatch> match(int index) {
    const Directive& directive = at(index);
    auto matched = m_matcher.match(directive.pattern, m_stop);
    if (!matched.ok()) {
      Diagnostic error = std::move(matched).error();
      if (!error.cancelled) error.where.attribute = optionText(directive);
      return error;
    }
    PatternMatch match = std::move(matched).value();
    m_map.nodesOf[static_cast<std::size_t>(index)] = match.nodes;
    for (const OriginId origin : match.removed) m_map.decisions.push_back(m_answers.aboutRemoved(directive, origin));
    m_map.inBodiesOf[static_cast<std::size_t>(index)] = match.inBodies;
    if (match.nodes.empty())
      for (const ValueId value : match.values) m_map.decisions.push_back(m_answers.aboutUnmadeValue(directive, value));
    return match;
  }

  Status takeOver(int& slot, int index) {
    if (slot >= 0) m_lost.push_back({slot, &slot, NodeId()});
    slot = index;
    return Done{};
  }

  /// Whether `later` takes the place of `earlier`: it does, unless only the earlier says obey.
  bool overrides(int later, int earlier) const {
    return at(later).strictness == Strictness::Obey || at(earlier).strictness == Strictness::Prefer;
  }

  Status claim(int& slot, int index, NodeId node) {
    if (slot < 0) {
      slot = index;
      return Done{};
    }
    const Directive &earlier = at(slot), &later = at(index);
    const bool bothObey = earlier.strictness == Strictness::Obey && later.strictness == Strictness::Obey;
    if (bothObey && earlier.type != later.type) return conflict(earlier, later, node);
    const int winner = overrides(index, slot) ? index : slot;
    m_lost.push_back({winner == index ? slot : index, &slot, node});
    slot = winner;
    return Done{};
  }

  Diagnostic conflict(const Directive& earlier, const Directive& later, NodeId node) const {
    const auto described = [](const Directive& d) { return directiveName(d) + " (" + optionText(d) + ")"; };
    return {.message =
                "two directives say obey and contradict each other: " + described(earlier) + " and " + described(later),
            .where = {.node = m_graph.node(node).name},
            .help = "Leave one of them out, let one say prefer, or make their patterns narrower."};
  }

  Status resolvePin(int index) {
    for (const NodeId id : TRY(match(index)).nodes) {
      m_map.pinsOf[id.index].push_back(index);
      TRY(claim(m_map.pin[id.index], index, id));
    }
    return Done{};
  }

  Status resolveOutputType(int index) {
    const PatternMatch found = TRY(match(index));
    const bool byValue = !found.values.empty();
    for (const NodeId id : found.nodes) {
      for (const ValueId value : m_graph.node(id).outputs) {
        if (!value.valid()) continue;
        if (byValue && !std::binary_search(found.values.begin(), found.values.end(), value)) continue;
        m_map.outputTypesOf[value.index].push_back(index);
        TRY(claim(m_map.outputType[value.index], index, id));
      }
    }
    return Done{};
  }

  Status resolveEach(std::vector<int>& table, int index) {
    for (const NodeId id : TRY(match(index)).nodes) TRY(claim(table[id.index], index, id));
    return Done{};
  }

  Status resolveNoFuse(int index) {
    const Directive& directive = at(index);
    const std::vector<std::string> known = fusionRuleNames();
    if (std::find(known.begin(), known.end(), directive.rule) == known.end()) {
      return Diagnostic{.message = "'" + directive.rule + "' is not a fusion rule",
                        .where = {.attribute = "--no-fuse"},
                        .help = "Rules: " + joined(known) + "."};
    }
    DirectiveMap::NoFuse wish{.directive = index, .rule = directive.rule};
    wish.nodes.assign(m_graph.nodeIdLimit(), directive.pattern.empty() ? 1 : 0);
    if (!directive.pattern.empty()) {
      const PatternMatch found = TRY(match(index));
      if (found.nodes.empty()) return Done{};  // answered already
      for (const NodeId id : found.nodes) wish.nodes[id.index] = 1;
    }
    m_map.noFuse.push_back(std::move(wish));
    return Done{};
  }

  Status resolveTactic(int index) {
    const PatternMatch found = TRY(match(index));
    if (found.nodes.empty()) return Done{};  // answered already
    std::vector<Subject> subjects;
    for (const NodeId id : found.nodes) subjects.push_back(Subject::node(m_graph.node(id).name));
    m_map.decisions.push_back(
        decide("tactic.requested", std::move(subjects), nameOf(index), {{"tactic", at(index).rule}}));
    return Done{};
  }

  /// The order in which those of one node or value would take each other's place.
  void orderPins(std::vector<std::vector<int>>& table) const {
    for (std::vector<int>& pins : table) {
      std::sort(pins.begin(), pins.end(), [&](int a, int b) {
        const bool aObeys = at(a).strictness == Strictness::Obey, bObeys = at(b).strictness == Strictness::Obey;
        return aObeys != bObeys ? aObeys : a > b;
      });
    }
  }

  /// One decision for each pair of directives of which one is in force in place of the other, with the nodes where.
  void explainOverridden() {
    std::map<std::pair<int, int>, std::set<NodeId>> overridden;  // by (not in force, in force)
    for (const Lost& lost : m_lost) {
      std::set<NodeId>& nodes = overridden[{lost.directive, *lost.slot}];
      if (lost.node.valid()) nodes.insert(lost.node);
    }
    for (const auto& [pair, nodes] : overridden) {
      const auto [loser, winner] = pair;
      std::vector<Subject> subjects;
      for (const NodeId id : nodes) subjects.push_back(Subject::node(m_graph.node(id).name));
      const bool later = winner > loser;
      const bool onlyObeys = at(winner).strictness == Strictness::Obey && at(loser).strictness == Strictness::Prefer;
      const char* why = later ? (onlyObeys ? "is later and says obey" : "is later") : "says obey";
      m_map.decisions.push_back(
          decide("precision.overridden", std::move(subjects), nameOf(loser),
                 {{"directive", nameOf(loser)}, {"in_force", nameOf(winner)}, {"why", std::string(why)}}));
    }
  }

  /// A directive that is not in force somewhere.
  struct Lost {
    int directive;
    const int* slot;  ///< holds the one in force, once all are resolved
    NodeId node;      ///< invalid: it is about no node
  };

  const Graph& m_graph;
  PatternMatcher m_matcher;
  DirectiveAnswers m_answers;
  const Directives& m_directives;
  const StopToken& m_stop;
  std::vector<Lost> m_lost;
  DirectiveMap m_map;
};

}  // namespace

Result<DirectiveMap> resolveDirectives(const Model& model, const Target& target, const Directives& directives,
                                       const StopToken& stop) {
  return Resolver(model, target, directives, stop).run();
}

}  // namespace fusescope
