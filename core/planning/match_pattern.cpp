#include "planning/match_pattern.h"

#include <algorithm>
#include <set>

#include "base/name_hints.h"
#include "base/sort_distinct.h"
#include "base/text.h"
#include "planning/module_paths.h"
#include "planning/name_test.h"

namespace fusescope {

namespace {

constexpr std::string_view kOperator = "op:";
constexpr std::string_view kModule = "module:";
constexpr std::string_view kValue = "value:";
/// Before each of several patterns that are one: what a pattern comes to in a body where no single one says it.
constexpr char kEach = '\x1f';

/// Which of `candidates`, that have the prefix of `pattern` or none like it, may have been meant.
std::string nearestTo(std::string_view pattern, const std::vector<std::string>& candidates) {
  std::string prefix;
  for (const std::string_view known : {kOperator, kModule, kValue})
    if (pattern.starts_with(known)) prefix = known;
  std::string wanted(pattern.substr(prefix.size()));
  std::erase_if(wanted, [](char c) { return c == '*' || c == '?'; });
  std::vector<std::string> names;
  for (const std::string& candidate : candidates) names.push_back(candidate.substr(prefix.size()));
  std::vector<std::string> near = nearestNames(wanted, names);
  for (std::string& name : near) name.insert(0, prefix);
  return nearestInWords(near,
                        "No name is near; fusescope plan lists the nodes, with --json all that they read and write.");
}

/// Whether `pattern` is a node's name and nothing else.
bool isName(std::string_view pattern) {
  const auto startsIt = [&](std::string_view form) { return pattern.starts_with(form); };
  return !isRegex(pattern) && !isGlob(pattern) && !startsIt(kOperator) && !startsIt(kModule) && !startsIt(kValue);
}

/// A directive goes to each body under one pattern: where several name nodes of a body, all of them under all.
void uniteRests(std::vector<BodyNode>& found) {
  std::map<std::pair<NodeId, std::string>, std::vector<std::string>> rests;
  for (const BodyNode& node : found) rests[{node.holder, node.attribute()}].push_back(node.rest);
  for (auto& [body, patterns] : rests) sortDistinct(patterns);
  for (BodyNode& node : found) {
    const std::vector<std::string>& patterns = rests.at({node.holder, node.attribute()});
    if (patterns.size() == 1) continue;
    node.rest.clear();
    for (const std::string& pattern : patterns) node.rest += kEach + pattern;
  }
}

/// All nodes of `body`, and of the bodies in it, from the outside in.
void addNodesOf(const BodyNode& outermost, const Graph& body, const BodyPath& path, std::vector<BodyNode>& nodes) {
  for (const NodeId id : body.order()) {
    const Node& node = body.node(id);
    BodyNode& added = nodes.emplace_back(outermost);
    added.node = &node;
    added.body = &body;
    added.place = {path, node.name};
    for (const auto& [key, attribute] : node.attributes)
      if (const auto* deeper = std::get_if<Subgraph>(&attribute))
        addNodesOf(outermost, *deeper->graph, path.into(node, key), nodes);
  }
}

bool has(const PatternMatch& match) {
  return !match.nodes.empty() || !match.values.empty() || !match.inBodies.empty() || !match.removed.empty();
}

/// Finds the nodes of bodies that a pattern names: by name, glob, /regex/ or op:Type, deeper ones by OWNER/PATTERN.
class BodySearch {
 public:
  explicit BodySearch(const StopToken& stop) : m_stop(stop) {}

  /// `outer`: the model whose graph holds `named`, or null; `around`: the bodies that it is in.
  Status search(const NamedBody& named, const Graph& graph, const Model* outer, const BodyPath& around) {
    const bool isOutermost = around.isNetwork();
    if (isOutermost) m_outermost = {.holder = named.holder, .rest = std::string(named.rest)};
    const BodyPath path = around.into(graph.node(named.holder), named.attribute);
    const Model* model = outer == nullptr ? nullptr : outer->body(named.holder, named.attribute);
    return searchBody(named.rest, model, *named.body->graph, path);
  }
  std::vector<BodyNode> take() { return std::move(m_found); }

 private:
  Status searchBody(std::string_view pattern, const Model* model, const Graph& body, const BodyPath& path) {
    const bool byOperator = pattern.starts_with(kOperator);
    const NameTest test = TRY(NameTest::create(pattern));
    const auto names = [&](std::string_view name, std::string_view op) {
      return byOperator ? op == pattern.substr(kOperator.size()) : test(name);
    };
    std::vector<char> present(model == nullptr ? 0 : model->origins.size(), 0);
    const std::size_t before = m_found.size();
    for (const NodeId id : body.order()) {
      TRY(checkStop(m_stop));
      const Node& node = body.node(id);
      for (const OriginId origin : node.origins)
        if (origin.index < present.size()) present[origin.index] = 1;
      if (names(node.name, node.op)) add(&node, body, path, node.name);
    }
    for (const NamedBody& deeper : bodiesNamed(body, pattern)) TRY(search(deeper, body, model, path));
    if (m_found.size() != before) return Done{};
    for (std::size_t i = 0; i < present.size(); ++i)
      if (!present[i] && names(model->origins[i].name, model->origins[i].op))
        add(nullptr, body, path, model->origins[i].name);
    return Done{};
  }

  void add(const Node* node, const Graph& body, const BodyPath& path, const std::string& name) {
    BodyNode& found = m_found.emplace_back(m_outermost);
    found.node = node;
    found.body = &body;
    found.place = {path, name};
  }

  const StopToken& m_stop;
  BodyNode m_outermost;  ///< what all that is found in one body of the network shares
  std::vector<BodyNode> m_found;
};

/// What each of several patterns names, nodes and values in no order; one that names nothing any more adds nothing.
Result<PatternMatch> matchEach(PatternMatcher& matcher, std::string_view patterns, const StopToken& stop) {
  PatternMatch all;
  while (!patterns.empty()) {
    patterns.remove_prefix(1);
    const std::string_view pattern = patterns.substr(0, patterns.find(kEach));
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

/// Adds the nodes of `body`, and of the bodies in it, that `pattern` names there as it stands; of a glob or /regex/
/// also those whose path it matches. `graph` holds the body's holder.
Status reachInto(const Graph& graph, const ModelBody& body, std::string_view pattern, std::vector<BodyNode>& found,
                 const StopToken& stop) {
  const auto inside = PatternMatcher(*body.model).match(pattern, stop);
  if (!inside.ok() && inside.error().cancelled) return inside.error();
  std::set<const Node*> named;
  if (inside.ok()) {
    for (const NodeId id : inside.value().nodes) named.insert(&body.model->graph->node(id));
    for (const BodyNode& deeper : inside.value().inBodies) named.insert(deeper.node);
  }
  const bool isOfPaths = isRegex(pattern) || isGlob(pattern);
  const NameTest test = TRY(NameTest::create(isOfPaths ? pattern : std::string_view()));
  std::vector<BodyNode> all;
  addNodesOf({.holder = body.holder, .rest = std::string(pattern)}, *body.model->graph,
             BodyPath().into(graph.node(body.holder), body.attribute), all);
  for (BodyNode& node : all) {
    TRY(checkStop(stop));
    const bool isNamed = named.contains(node.node);
    const std::string& name = node.place.name;
    const bool byPath = !isNamed && isOfPaths && (test(node.place.text()) || test(node.place.bodies.exactly(name)));
    if (!isNamed && !byPath) continue;
    const auto& steps = node.place.bodies.steps();
    if (byPath) node.rest = BodyPath({steps.begin() + 1, steps.end()}).of(name);
    found.push_back(std::move(node));
  }
  return Done{};
}

void addBodyNames(const Node& owner, const BodyPath& around, std::vector<std::string>& names) {
  for (const auto& [key, attribute] : owner.attributes) {
    const auto* body = std::get_if<Subgraph>(&attribute);
    if (body == nullptr) continue;
    const BodyPath path = around.into(owner, key);
    for (const NodeId id : body->graph->order()) {
      names.push_back(path.of(body->graph->node(id).name));
      addBodyNames(body->graph->node(id), path, names);
    }
  }
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
  // A name is tried first whatever the pattern looks like: ONNX names may start and end with '/' or hold '*'.
  PatternMatch match = exactly(pattern);
  if (has(match)) return match;
  if (pattern.starts_with(kEach)) {
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
  if (pattern.starts_with(kOperator)) {
    match = TRY(byOperator(pattern.substr(kOperator.size())));
  } else if (pattern.starts_with(kModule)) {
    match = TRY(byModule(pattern.substr(kModule.size()), stop));
  } else if (pattern.starts_with(kValue)) {
    match = TRY(byValue(pattern.substr(kValue.size()), stop));
    if (m_graph.findValue(pattern.substr(kValue.size()))) return match;
  } else {
    match = TRY(byName(pattern, stop));
    match.inBodies = TRY(inBodies(pattern, stop));
    mayBeOfBranch = true;
  }
  if (match.inBodies.empty() && !isName(pattern)) {
    for (const ModelBody& body : m_model.bodies) TRY(reachInto(m_graph, body, pattern, match.inBodies, stop));
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

Result<std::vector<BodyNode>> PatternMatcher::inBodies(std::string_view pattern, const StopToken& stop) const {
  BodySearch search(stop);
  for (const NamedBody& named : bodiesNamed(m_graph, m_holders, pattern))
    TRY(search.search(named, m_graph, &m_model, {}));
  return search.take();
}

/// HOLDER/PATTERN, or HOLDER/BRANCH/PATTERN, where normalisation put the nodes of the branch that is taken in the
/// holder's place.
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
  const bool byOperator = pattern.starts_with(kOperator);
  for (const NodeId id : m_graph.order()) {
    const Node& node = m_graph.node(id);
    candidates.push_back(byOperator ? std::string(kOperator) + node.op : node.name);
  }
  for (const NodeId holder : m_holders)
    if (!byOperator) addBodyNames(m_graph.node(holder), {}, candidates);
  std::vector<BodyNode> inside;
  for (const ModelBody& body : m_model.bodies)
    if (byOperator) addNodesOf({.holder = body.holder}, *body.model->graph, {}, inside);
  for (const BodyNode& node : inside) candidates.push_back(std::string(kOperator) + node.node->op);
  return candidates;
}

const PatternMatcher::NodesByModule& PatternMatcher::modules() {
  if (m_modules) return *m_modules;
  m_modules.emplace();
  for (const NodeId id : m_graph.order()) {
    for (const std::string& path : modulePaths(m_model, m_graph.node(id))) {
      // The node is in every module that its path leads through.
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
