#include "planning/match_pattern.h"

#include <algorithm>

#include "base/name_hints.h"
#include "base/regular_expression.h"
#include "base/sort_distinct.h"
#include "base/text.h"
#include "planning/module_paths.h"

namespace fusescope {

namespace {

constexpr std::string_view kOperator = "op:";
constexpr std::string_view kModule = "module:";
constexpr std::string_view kValue = "value:";
constexpr std::size_t kMostRegexCharacters = 2000;

bool isRegex(std::string_view pattern) {
  return pattern.size() > 1 && pattern.front() == '/' && pattern.back() == '/';
}

bool isGlob(std::string_view pattern) {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

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

/// Names as a pattern without a prefix tests them.
class NameTest {
 public:
  static Result<NameTest> create(std::string_view pattern) {
    NameTest test(pattern);
    if (!isRegex(pattern)) return test;
    const auto located = [&](std::string message, std::string help) {
      return Diagnostic{
          .message = "'" + std::string(pattern.substr(0, 80)) + "' is not a regular expression: " + message,
          .where = {.attribute = std::string(pattern.substr(0, 80))},
          .help = std::move(help)};
    };
    if (pattern.size() > kMostRegexCharacters) {
      return located("it has more than " + std::to_string(kMostRegexCharacters) + " characters",
                     "Give several shorter patterns.");
    }
    auto regex = RegularExpression::create(pattern.substr(1, pattern.size() - 2));
    if (!regex.ok()) return located(regex.error().message, regex.error().help);
    test.m_regex = std::move(regex).value();
    return test;
  }

  bool exact() const { return !m_regex && !isGlob(m_pattern); }
  bool operator()(std::string_view name) const {
    if (m_regex) return m_regex->matchesSome(name);
    return isGlob(m_pattern) ? matchesGlob(m_pattern, name) : name == m_pattern;
  }

 private:
  explicit NameTest(std::string_view pattern) : m_pattern(pattern) {}
  std::string_view m_pattern;
  std::optional<RegularExpression> m_regex;
};

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
  if (!has(match)) match = TRY(byForm(pattern, stop));
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
  if (pattern.starts_with(kOperator)) return byOperator(pattern.substr(kOperator.size()));
  if (pattern.starts_with(kModule)) return byModule(pattern.substr(kModule.size()), stop);
  if (pattern.starts_with(kValue)) return byValue(pattern.substr(kValue.size()), stop);
  PatternMatch match = TRY(byName(pattern, stop));
  match.inBodies = TRY(inBodies(pattern, stop));
  if (!has(match)) match.nodes = TRY(ofTakenBranch(pattern));
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

/// HOLDER/PATTERN, or HOLDER/BRANCH/PATTERN, where normalisation put the nodes of the branch that is taken in the holder's place.
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
  for (const NodeId id : m_graph.order()) {
    const Node& node = m_graph.node(id);
    candidates.push_back(pattern.starts_with(kOperator) ? std::string(kOperator) + node.op : node.name);
  }
  for (const NodeId holder : m_holders)
    if (!pattern.starts_with(kOperator)) addBodyNames(m_graph.node(holder), {}, candidates);
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
