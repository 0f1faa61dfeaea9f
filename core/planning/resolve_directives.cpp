#include <algorithm>
#include <set>

#include "base/text.h"
#include "planning/directive_map.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

std::vector<std::string> originNames(const Model& model) {
  std::vector<std::string> names;
  names.reserve(model.origins.size());
  for (const Origin& origin : model.origins) names.push_back(origin.name);
  return names;
}

class Resolver {
 public:
  Resolver(const Model& model, const Target& target, const Directives& directives)
      : m_graph(*model.graph), m_originNames(originNames(model)), m_directives(directives) {
    for (std::vector<int>* table : {&m_map.pin, &m_map.fallback, &m_map.split}) {
      table->assign(m_graph.nodeIdLimit(), -1);
    }
    m_map.outputType.assign(m_graph.valueIdLimit(), -1);
    m_map.nodesOf.resize(directives.size());
    m_map.pinsOf.resize(m_graph.nodeIdLimit());
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
    return std::move(m_map);
  }

 private:
  Status resolve(int index) {
    const Directive& directive = m_directives[static_cast<std::size_t>(index)];
    switch (directive.kind) {
      case DirectiveKind::Pin:
        TRY(claim(m_map.pin, index));
        for (const NodeId id : m_map.nodesOf[static_cast<std::size_t>(index)])
          m_map.pinsOf[id.index].insert(m_map.pinsOf[id.index].begin(), index);
        return Done{};
      case DirectiveKind::PinOutput:
        return claimOutputs(index);
      case DirectiveKind::Fallback:
        return claim(m_map.fallback, index);
      case DirectiveKind::Split:
        return claim(m_map.split, index);
      case DirectiveKind::NoFuse:
        return resolveNoFuse(index);
      case DirectiveKind::Tactic:
        return resolveTactic(directive);
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

  void overridden(int earlier, int later, std::vector<Subject> subjects) {
    m_map.decisions.push_back(decide("precision.overridden", std::move(subjects), nameOf(earlier),
                                     {{"directive", nameOf(earlier)}, {"later", nameOf(later)}}));
  }

  Status takeOver(int& slot, int index) {
    if (slot >= 0) overridden(slot, index, {});
    slot = index;
    return Done{};
  }

  Status claim(std::vector<int>& table, int index) {
    const Directive& directive = m_directives[static_cast<std::size_t>(index)];
    std::vector<NodeId>& matched = m_map.nodesOf[static_cast<std::size_t>(index)];
    matched = TRY(matchPattern(m_graph, m_originNames, directive.pattern));
    for (NodeId id : matched) {
      int& slot = table[id.index];
      if (slot >= 0) overridden(slot, index, {Subject::node(m_graph.node(id).name)});
      slot = index;
    }
    return Done{};
  }

  Status claimOutputs(int index) {
    const Directive& directive = m_directives[static_cast<std::size_t>(index)];
    std::vector<NodeId>& matched = m_map.nodesOf[static_cast<std::size_t>(index)];
    matched = TRY(matchPattern(m_graph, m_originNames, directive.pattern));
    for (const NodeId id : matched) {
      for (const ValueId value : m_graph.node(id).outputs) {
        if (!value.valid()) continue;
        int& slot = m_map.outputType[value.index];
        if (slot >= 0) overridden(slot, index, {Subject::node(m_graph.node(id).name)});
        slot = index;
      }
    }
    return Done{};
  }

  Status resolveNoFuse(int index) {
    const Directive& directive = m_directives[static_cast<std::size_t>(index)];
    const std::vector<std::string> known = fusionRuleNames();
    if (std::find(known.begin(), known.end(), directive.rule) == known.end()) {
      return Diagnostic{.message = "'" + directive.rule + "' is not a fusion rule",
                        .where = {.attribute = "--no-fuse"},
                        .help = "Rules: " + joined(known) + "."};
    }
    DirectiveMap::NoFuse wish{.directive = index, .rule = directive.rule};
    wish.nodes.assign(m_graph.nodeIdLimit(), directive.pattern.empty() ? 1 : 0);
    if (!directive.pattern.empty()) {
      std::vector<NodeId>& matched = m_map.nodesOf[static_cast<std::size_t>(index)];
      matched = TRY(matchPattern(m_graph, m_originNames, directive.pattern));
      for (const NodeId id : matched) wish.nodes[id.index] = 1;
    }
    m_map.noFuse.push_back(std::move(wish));
    return Done{};
  }

  Status resolveTactic(const Directive& directive) {
    std::vector<Subject> subjects;
    for (NodeId id : TRY(matchPattern(m_graph, m_originNames, directive.pattern))) {
      subjects.push_back(Subject::node(m_graph.node(id).name));
    }
    m_map.decisions.push_back(
        decide("tactic.requested", std::move(subjects), directiveName(directive), {{"tactic", directive.rule}}));
    return Done{};
  }

  std::string nameOf(int index) const { return directiveName(m_directives[static_cast<std::size_t>(index)]); }

  const Graph& m_graph;
  std::vector<std::string> m_originNames;
  const Directives& m_directives;
  DirectiveMap m_map;
};

}  // namespace

std::string directiveName(const Directive& directive) {
  return std::string(name(directive.kind)) + ":" + directive.id;
}

Result<DirectiveMap> resolveDirectives(const Model& model, const Target& target, const Directives& directives,
                                       const StopToken&) {
  return Resolver(model, target, directives).run();
}

}  // namespace fusescope
