#include "planning/patterns/match_pattern.h"

#include <algorithm>
#include <set>

#include "base/name_hints.h"
#include "base/sort_distinct.h"
#include "base/text.h"
#include "ir/graph.h"
#include "planning/patterns/match_in_bodies.h"
#include "planning/patterns/module_paths.h"
#include "planning/patterns/name_test.h"

namespace fusescope {

namespace {

constexpr std::string_view kModule = "module:";
constexpr std::string_view kValue = "value:";

/// Returns those of `candidates` that may have been meant; they have the prefix of `pattern`, or no prefix if it has
/// none.
std::string nearestTo(std::string_view pattern, const std::vector<std::string>& candidates) {
  std::string prefix;
  for (const std::string_view known : {kOperatorPattern, kModule, kValue})
    if (pattern.starts_with(known)) prefix = known;
  if (const auto inside = operatorInBodies(pattern)) prefix = pattern.substr(0, pattern.size() - inside->op.size());
  std::string wanted(pattern.substr(prefix.size()));
  std::erase_if(wanted, [](char c) { return c == '*' || c == '?'; });
  std::vector<std::string> names;
  for (const std::string& candidate : candidates) names.push_back(candidate.substr(prefix.size()));
  std::vector<std::string> near = nearestNames(wanted, names);
  for (std::string& name : near) name.insert(0, prefix);
  return nearestInWords(near,
                        "No name is near; fusescope plan lists the nodes, with --json all that they read and write.");
}

/// Returns whether `pattern` can only be the name of a node.
bool isName(std::string_view pattern) {
  const auto startsIt = [&](std::string_view form) { return pattern.starts_with(form); };
  return !isRegex(pattern) && !isGlob(pattern) && !startsIt(kOperatorPattern) && !startsIt(kModule) &&
         !startsIt(kValue);
}

/// Returns why `pattern`, which matches nothing, could match nothing in any network; empty if it could.
std::string whyNoPattern(std::string_view pattern) {
  if (isRegex(pattern)) return {};
  const auto startsIt = [&](std::string_view form) { return pattern.starts_with(form); };
  const bool hasForm = startsIt(kOperatorPattern) || startsIt(kModule) || startsIt(kValue);
  const std::size_t mark = pattern.rfind("/op:");
  const bool isInside = mark != std::string_view::npos;
  for (const std::string_view form : {"/module:", "/value:"})
    if (!hasForm && pattern.find(form) != std::string_view::npos)
      return "the name of a node with bodies must be followed by a name, a glob, a /regular expression/ or op:TYPE";
  if (isInside && hasForm) return "/op: must follow the name of a node with bodies, or a glob, as in */op:MatMul";
  if (isInside && pattern.starts_with('/') && isRegex(pattern.substr(0, mark)))
    return "/op: must follow the name of a node with bodies, or a glob, and not a regular expression";
  if (!isInside && !startsIt(kOperatorPattern)) return {};
  const std::string_view op = pattern.substr(isInside ? mark + 4 : kOperatorPattern.size());
  if (op.empty()) return "op: must be followed by an operator, as in op:MatMul";
  if (isGlob(op)) return "op: must be followed by the whole name of one operator, as in op:MatMul";
  return {};
}

bool has(const PatternMatch& match) {
  return !match.nodes.empty() || !match.values.empty() || !match.inBodies.empty() || !match.removed.empty();
}

/// Returns what each of several patterns matches, with nodes and values in no particular order. A pattern that does not
/// match anything any more adds nothing.
Result<PatternMatch> matchEach(PatternMatcher& matcher, std::string_view patterns, const StopToken& stop) {
  PatternMatch all;
  while (!patterns.empty()) {
    patterns.remove_prefix(1);
    const std::string_view pattern = patterns.substr(0, patterns.find(kEachPattern));
    patterns.remove_prefix(pattern.size());
    auto match = matcher.match(pattern, stop);
    if (!match.ok() && match.error().cancelled) return std::move(match).error();
    if (!match.ok()) continue;
    const PatternMatch& one = match.value();
    all.nodes.insert(all.nodes.end(), one.nodes.begin(), one.nodes.end());
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
    all.inBodies.insert(all.inBodies.end(), one.inBodies.begin(), one.inBodies.end());
    all.removed.insert(all.removed.end(), one.removed.begin(), one.removed.end());
  }
  sortDistinct(all.values);
  uniteRests(all.inBodies);
  return all;
}

/// Returns the nodes of `body`, and of the bodies in it, that `pattern` matches in the network of the body itself.
Result<std::set<const Node*>> nodesNamedIn(const Model& body, std::string_view pattern, const StopToken& stop) {
  std::set<const Node*> named;
  const auto inside = PatternMatcher(body).match(pattern, stop);
  if (!inside.ok() && inside.error().cancelled) return inside.error();
  if (!inside.ok()) return named;
  for (const NodeId id : inside.value().nodes) named.insert(&body.graph->node(id));
  for (const BodyNode& deeper : inside.value().inBodies) named.insert(deeper.node);
  return named;
}

}  // namespace

PatternMatcher::PatternMatcher(const Model& model) : m_model(model), m_graph(*model.graph) {
  std::vector<char> present(model.origins.size(), 0);
  for (const NodeId id : m_graph.order()) {
    const Node& node = m_graph.node(id);
    if (hasBody(node)) m_holders.push_back(id);
    for (const OriginId origin : node.origins) {
      if (origin.index >= model.origins.size()) continue;
      present[origin.index] = 1;
      m_byOrigin[model.origins[origin.index].name].push_back(id);
    }
  }
  for (std::size_t i = 0; i < present.size(); ++i)
    if (!present[i]) m_removed.emplace(model.origins[i].name, OriginId(i));
}

Result<PatternMatch> PatternMatcher::match(std::string_view pattern, const StopToken& stop) {
  TRY(checkStop(stop));
  // A name is tried first, whatever the pattern looks like, because ONNX names may start and end with '/' or contain
  // '*'.
  PatternMatch match = exactly(pattern);
  if (has(match)) return match;
  if (pattern.starts_with(kEachPattern)) {
    match = TRY(matchEach(*this, pattern, stop));
    std::vector<char> chosen(m_graph.nodeIdLimit(), 0);
    for (const NodeId id : match.nodes) chosen[id.index] = 1;
    match.nodes = inOrder(chosen);
  } else {
    match = TRY(byForm(pattern, stop));
  }
  if (!has(match)) return nothing(pattern);
  return match;
}

PatternMatch PatternMatcher::exactly(std::string_view name) const {
  PatternMatch match;
  if (const auto found = m_byOrigin.find(name); found != m_byOrigin.end()) match.nodes = found->second;
  const auto own = m_graph.findNode(name);
  if (own && match.nodes.empty()) match.nodes.push_back(*own);
  if (own && std::find(match.nodes.begin(), match.nodes.end(), *own) == match.nodes.end()) {
    std::vector<char> chosen(m_graph.nodeIdLimit(), 0);
    chosen[own->index] = 1;
    for (const NodeId id : match.nodes) chosen[id.index] = 1;
    match.nodes = inOrder(chosen);
  }
  if (!match.nodes.empty()) return match;
  if (const auto removed = m_removed.find(name); removed != m_removed.end()) match.removed.push_back(removed->second);
  return match;
}

Result<PatternMatch> PatternMatcher::byForm(std::string_view pattern, const StopToken& stop) {
  PatternMatch match;
  bool mayBeOfBranch = false;
  if (pattern.starts_with(kOperatorPattern)) {
    match = TRY(byOperator(pattern.substr(kOperatorPattern.size())));
  } else if (pattern.starts_with(kModule)) {
    match = TRY(byModule(pattern.substr(kModule.size()), stop));
  } else if (pattern.starts_with(kValue)) {
    match = TRY(byValue(pattern.substr(kValue.size()), stop));
    if (m_graph.findValue(pattern.substr(kValue.size()))) return match;
  } else {
    match = TRY(byName(pattern, stop));
    match.inBodies = TRY(namedInBodies(m_model, m_holders, pattern, stop));
    mayBeOfBranch = true;
  }
  if (match.inBodies.empty() && !isName(pattern)) {
    for (const ModelBody& body : m_model.bodies) {
      const std::set<const Node*> named = TRY(nodesNamedIn(*body.model, pattern, stop));
      TRY(reachInto(m_graph, body, pattern, named, match.inBodies, stop));
    }
  }
  if (!match.inBodies.empty()) match.removed.clear();
  uniteRests(match.inBodies);
  if (mayBeOfBranch && !has(match)) match.nodes = TRY(ofTakenBranch(pattern));
  return match;
}

Result<PatternMatch> PatternMatcher::byName(std::string_view pattern, const StopToken& stop) const {
  PatternMatch match;
  const NameTest test = TRY(NameTest::create(pattern));
  if (test.exact()) return match;
  const auto originMatches = [&](OriginId id) {
    return id.index < m_model.origins.size() && test(m_model.origins[id.index].name);
  };
  for (const NodeId id : m_graph.order()) {
    TRY(checkStop(stop));
    const Node& node = m_graph.node(id);
    if (test(node.name) || std::any_of(node.origins.begin(), node.origins.end(), originMatches))
      match.nodes.push_back(id);
  }
  if (!match.nodes.empty()) return match;
  for (std::size_t i = 0; i < m_model.origins.size(); ++i) {
    TRY(checkStop(stop));
    if (m_removed.contains(m_model.origins[i].name) && originMatches(OriginId(i))) match.removed.emplace_back(i);
  }
  return match;
}

Result<PatternMatch> PatternMatcher::byOperator(std::string_view op) const {
  PatternMatch match;
  for (const NodeId id : m_graph.order())
    if (m_graph.node(id).op == op) match.nodes.push_back(id);
  if (!match.nodes.empty()) return match;
  for (std::size_t i = 0; i < m_model.origins.size(); ++i)
    if (m_model.origins[i].op == op && m_removed.contains(m_model.origins[i].name)) match.removed.emplace_back(i);
  return match;
}

Result<PatternMatch> PatternMatcher::byModule(std::string_view path, const StopToken& stop) {
  PatternMatch match;
  const std::string wanted = dottedPath(path);
  const NodesByModule& known = modules();
  if (const auto found = known.find(wanted); found != known.end()) {
    match.nodes = found->second;
    return match;
  }
  if (!isGlob(wanted)) return match;
  std::vector<char> chosen(m_graph.nodeIdLimit(), 0);
  for (const auto& [module, nodes] : known) {
    TRY(checkStop(stop));
    if (!matchesGlob(wanted, module)) continue;
    for (const NodeId id : nodes) chosen[id.index] = 1;
  }
  match.nodes = inOrder(chosen);
  return match;
}

Result<PatternMatch> PatternMatcher::byValue(std::string_view name, const StopToken& stop) const {
  PatternMatch match;
  if (const auto exact = m_graph.findValue(name)) {
    match.values.push_back(*exact);
  } else {
    const NameTest test = TRY(NameTest::create(name));
    if (test.exact()) return match;
    for (const ValueId id : m_graph.allValues()) {
      TRY(checkStop(stop));
      if (!m_graph.isConstant(id) && test(m_graph.value(id).name)) match.values.push_back(id);
    }
  }
  std::vector<char> chosen(m_graph.nodeIdLimit(), 0);
  for (const ValueId id : match.values)
    if (const NodeId producer = m_graph.value(id).producer; producer.valid()) chosen[producer.index] = 1;
  match.nodes = inOrder(chosen);
  return match;
}

/// Matches HOLDER/PATTERN or HOLDER/BRANCH/PATTERN if normalisation replaced the holder by the nodes of the branch that
/// is taken.
Result<std::vector<NodeId>> PatternMatcher::ofTakenBranch(std::string_view pattern) const {
  std::vector<NodeId> nodes;
  for (std::size_t at = pattern.find('/'); at != std::string_view::npos; at = pattern.find('/', at + 1)) {
    const auto holder = m_byOrigin.find(pattern.substr(0, at));
    if (holder == m_byOrigin.end() || m_graph.findNode(holder->first)) continue;
    std::string_view inside = pattern.substr(at + 1);
    for (const std::string_view branch : {"then_branch/", "else_branch/"})
      if (inside.starts_with(branch)) inside.remove_prefix(branch.size());
    const NameTest test = TRY(NameTest::create(inside));
    for (const NodeId id : holder->second)
      if (test(m_graph.node(id).name)) nodes.push_back(id);
  }
  return nodes;
}

Diagnostic PatternMatcher::nothing(std::string_view pattern) {
  if (const std::string why = whyNoPattern(pattern); !why.empty())
    return {.message = "'" + std::string(pattern) + "' is not a pattern: " + why,
            .where = {.attribute = std::string(pattern)},
            .help =
                "Patterns are names, globs, /regular expressions/, op:TYPE, module:PATH, value:NAME and "
                "HOLDER/PATTERN."};
  if (operatorInBodies(pattern) && m_holders.empty())
    return {
        .message = "the pattern '" + std::string(pattern) + "' names nodes in bodies, and the network has no bodies",
        .where = {.attribute = std::string(pattern)},
        .help = "op:TYPE alone names all nodes of an operator."};
  std::vector<std::string> candidates = candidatesFor(pattern);
  sortDistinct(candidates);
  const char* what = pattern.starts_with(kValue) ? "value" : "node";
  return {.message = "the pattern '" + std::string(pattern) + "' matches no " + what,
          .where = {.attribute = std::string(pattern)},
          .help = candidates.empty() ? "The graph has no nodes." : nearestTo(pattern, candidates)};
}

std::vector<std::string> PatternMatcher::candidatesFor(std::string_view pattern) {
  std::vector<std::string> candidates;
  if (pattern.starts_with(kModule)) {
    for (const auto& [module, nodes] : modules()) candidates.push_back(std::string(kModule) + module);
    return candidates;
  }
  if (pattern.starts_with(kValue)) {
    for (const ValueId id : m_graph.allValues())
      if (!m_graph.isConstant(id)) candidates.push_back(std::string(kValue) + m_graph.value(id).name);
    return candidates;
  }
  const auto inside = operatorInBodies(pattern);
  const bool byOperator = pattern.starts_with(kOperatorPattern) || inside;
  for (const NodeId id : m_graph.order()) {
    const Node& node = m_graph.node(id);
    if (!inside) candidates.push_back(byOperator ? std::string(kOperatorPattern) + node.op : node.name);
  }
  for (const NodeId holder : m_holders)
    if (!byOperator) addBodyNames(m_graph.node(holder), {}, candidates);
  std::vector<BodyNode> nodes;
  for (const ModelBody& body : m_model.bodies)
    if (byOperator) addNodesOf({.holder = body.holder}, *body.model->graph, {}, nodes);
  const std::string before(inside ? pattern.substr(0, pattern.size() - inside->op.size()) : kOperatorPattern);
  for (const BodyNode& node : nodes) candidates.push_back(before + node.node->op);
  return candidates;
}

const PatternMatcher::NodesByModule& PatternMatcher::modules() {
  if (m_modules) return *m_modules;
  m_modules.emplace();
  for (const NodeId id : m_graph.order()) {
    for (const std::string& path : modulePaths(m_model, m_graph.node(id))) {
      // The node is in every module on its path.
      for (std::size_t end = 0; end < path.size(); ++end) {
        end = std::min(path.find('.', end), path.size());
        std::vector<NodeId>& nodes = (*m_modules)[path.substr(0, end)];
        if (nodes.empty() || nodes.back() != id) nodes.push_back(id);
      }
    }
  }
  return *m_modules;
}

std::vector<NodeId> PatternMatcher::inOrder(const std::vector<char>& chosen) const {
  std::vector<NodeId> nodes;
  for (const NodeId id : m_graph.order())
    if (chosen[id.index]) nodes.push_back(id);
  return nodes;
}

}  // namespace fusescope
