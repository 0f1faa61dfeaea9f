#include "planning/directives/directive_resolver.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"

namespace fusescope {

DirectiveResolver::DirectiveResolver(const Model& model, const Target& target, const Directives& directives,
                                     const StopToken& stop)
    : m_model(model), m_graph(*model.graph), m_answers(model), m_directives(directives), m_stop(stop) {
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

Result<DirectiveMap> DirectiveResolver::run() {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < m_directives.size(); ++i) {
    if (!ids.insert(m_directives[i].id).second) {
      return Diagnostic{.message = "two directives have the same id, '" + m_directives[i].id + "'",
                        .where = {.attribute = "id"},
                        .help = "Ids must be unique; if they are omitted, Fusescope numbers the directives."};
    }
    TRY(formOf(m_directives[i]).resolve(*this, static_cast<int>(i)));
  }
  orderPins(m_map.pinsOf);
  orderPins(m_map.outputTypesOf);
  explainOverridden();
  return std::move(m_map);
}

Result<PatternMatch> DirectiveResolver::match(int index) {
  const Directive& directive = at(index);
  if (!m_matcher) m_matcher.emplace(m_model);
  auto matched = m_matcher->match(directive.pattern, m_stop);
  if (!matched.ok()) {
    Diagnostic error = std::move(matched).error();
    if (!error.cancelled) error.where.attribute = optionText(directive);
    return error;
  }
  PatternMatch match = std::move(matched).value();
  m_map.nodesOf[static_cast<std::size_t>(index)] = match.nodes;
  for (const OriginId origin : match.removed) m_answers.aboutRemoved(directive, origin, m_map.explanations);
  m_map.inBodiesOf[static_cast<std::size_t>(index)] = match.inBodies;
  if (match.nodes.empty())
    for (const ValueId value : match.values) m_answers.aboutUnmadeValue(directive, value, m_map.explanations);
  return match;
}

void DirectiveResolver::takeOver(int& slot, int index) {
  if (slot >= 0) m_lost.push_back({slot, &slot, NodeId()});
  slot = index;
}

/// Returns whether `later` takes precedence over `earlier`: it does, unless only the earlier one has `obey`.
bool DirectiveResolver::overrides(int later, int earlier) const {
  return at(later).strictness == Strictness::Obey || at(earlier).strictness == Strictness::Prefer;
}

Status DirectiveResolver::claim(int& slot, int index, NodeId node) {
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

Status DirectiveResolver::claimEach(std::vector<int>& table, int index) {
  for (const NodeId id : TRY(match(index)).nodes) TRY(claim(table[id.index], index, id));
  return Done{};
}

Diagnostic DirectiveResolver::conflict(const Directive& earlier, const Directive& later, NodeId node) const {
  const auto described = [](const Directive& d) { return causeOf(d).text() + " (" + optionText(d) + ")"; };
  return {.message = "two directives are marked obey and contradict each other: " + described(earlier) + " and " +
                     described(later),
          .where = {.node = m_graph.node(node).name},
          .help = "Remove one of them, mark one prefer, or make their patterns narrower."};
}

/// Orders the directives of each node or value by precedence.
void DirectiveResolver::orderPins(std::vector<std::vector<int>>& table) const {
  for (std::vector<int>& pins : table) {
    std::sort(pins.begin(), pins.end(), [&](int a, int b) {
      const bool aObeys = at(a).strictness == Strictness::Obey, bObeys = at(b).strictness == Strictness::Obey;
      return aObeys != bObeys ? aObeys : a > b;
    });
  }
}

/// Adds one decision for each pair of directives of which one is in force instead of the other, with the nodes
/// concerned.
void DirectiveResolver::explainOverridden() {
  std::map<std::pair<int, int>, std::set<NodeId>> overridden;  // by (directive not in force, directive in force)
  for (const Lost& lost : m_lost) {
    const bool holdsInPart =
        lost.directive == m_map.truncateInputsDirective || lost.directive == m_map.truncateConstantsDirective;
    if (holdsInPart) continue;
    std::set<NodeId>& nodes = overridden[{lost.directive, *lost.slot}];
    if (lost.node.valid()) nodes.insert(lost.node);
  }
  for (const auto& [pair, nodes] : overridden) {
    const auto [loser, winner] = pair;
    std::vector<Subject> subjects;
    for (const NodeId id : nodes) subjects.push_back(Subject::node(m_graph.node(id).name));
    const bool later = winner > loser;
    const bool onlyObeys = at(winner).strictness == Strictness::Obey && at(loser).strictness == Strictness::Prefer;
    const char* why = later ? (onlyObeys ? "is later and is marked obey" : "is later") : "is marked obey";
    const Cause lost = causeOf(at(loser));
    m_map.explanations.add(decide("precision.overridden", std::move(subjects), lost,
                                  {{"directive", lost.text()}, {"in_force", causeOf(at(winner)).text()}, {"why", why}}),
                           {.outcome = DirectiveOutcome::Overridden});
  }
}

Result<DirectiveMap> resolveDirectives(const Model& model, const Target& target, const Directives& directives,
                                       const StopToken& stop) {
  return DirectiveResolver(model, target, directives, stop).run();
}

}  // namespace fusescope
