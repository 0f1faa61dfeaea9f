#include "planning/patterns/match_in_bodies.h"

#include <algorithm>
#include <map>

#include "base/sort_distinct.h"
#include "base/text.h"
#include "ir/graph.h"
#include "planning/patterns/name_test.h"

namespace fusescope {
namespace {

/// Finds the nodes of bodies that match a pattern: a name, glob, /regex/ or op:Type; OWNER/PATTERN matches nodes in
/// deeper bodies.
class BodySearch {
 public:
  explicit BodySearch(const StopToken& stop) : m_stop(stop) {}

  /// `outer` is the model whose graph contains `named`, or null; `around` is the path of the bodies around it.
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
    const bool byOperator = pattern.starts_with(kOperatorPattern);
    const NameTest test = TRY(NameTest::create(pattern));
    const auto names = [&](std::string_view name, std::string_view op) {
      return byOperator ? op == pattern.substr(kOperatorPattern.size()) : test(name);
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

/// Returns whether the glob `holders` matches the names of the holders around something ("the_if/deep"), or these with
/// the attributes of the bodies ("the_if/then_branch/deep/else_branch") if the glob contains one of them.
bool matchesHolders(std::string_view holders, const BodyPath& bodies) {
  std::string names;
  bool saysBody = false;
  const std::vector<std::string> parts = split(holders, '/');
  for (const BodyPathStep& step : bodies.steps()) {
    names += (names.empty() ? "" : "/") + step.holder;
    saysBody = saysBody || std::ranges::find(parts, step.attribute) != parts.end();
  }
  return matchesGlob(holders, names) || (saysBody && matchesGlob(holders, bodies.text()));
}

}  // namespace

std::optional<OperatorInBodies> operatorInBodies(std::string_view pattern) {
  constexpr std::string_view kMark = "/op:";
  const std::size_t at = pattern.rfind(kMark);
  if (at == std::string_view::npos || isRegex(pattern)) return std::nullopt;
  const OperatorInBodies parts{.holders = pattern.substr(0, at), .op = pattern.substr(at + kMark.size())};
  return isGlob(parts.holders) ? std::optional(parts) : std::nullopt;
}

Result<std::vector<BodyNode>> namedInBodies(const Model& model, const std::vector<NodeId>& holders,
                                            std::string_view pattern, const StopToken& stop) {
  BodySearch search(stop);
  for (const NamedBody& named : bodiesNamed(*model.graph, holders, pattern))
    TRY(search.search(named, *model.graph, &model, {}));
  return search.take();
}

Status reachInto(const Graph& graph, const ModelBody& body, std::string_view pattern,
                 const std::set<const Node*>& named, std::vector<BodyNode>& found, const StopToken& stop) {
  const bool isOfPaths = isRegex(pattern) || isGlob(pattern);
  const NameTest test = TRY(NameTest::create(isOfPaths ? pattern : std::string_view()));
  const auto ofOperator = operatorInBodies(pattern);
  std::vector<BodyNode> all;
  addNodesOf({.holder = body.holder, .rest = std::string(pattern)}, *body.model->graph,
             BodyPath().into(graph.node(body.holder), body.attribute), all);
  for (BodyNode& node : all) {
    TRY(checkStop(stop));
    const bool isNamed = named.contains(node.node);
    const std::string& name = node.place.name;
    const bool isOfOperator =
        ofOperator && node.node->op == ofOperator->op && matchesHolders(ofOperator->holders, node.place.bodies);
    const bool byPath =
        !isNamed && (isOfOperator || (isOfPaths && (test(node.place.text()) || test(node.place.bodies.exactly(name)))));
    if (!isNamed && !byPath) continue;
    const auto& steps = node.place.bodies.steps();
    if (byPath) node.rest = BodyPath({steps.begin() + 1, steps.end()}).of(name);
    found.push_back(std::move(node));
  }
  return Done{};
}

void uniteRests(std::vector<BodyNode>& found) {
  std::map<std::pair<NodeId, std::string>, std::vector<std::string>> rests;
  for (const BodyNode& node : found) rests[{node.holder, node.attribute()}].push_back(node.rest);
  for (auto& [body, patterns] : rests) sortDistinct(patterns);
  for (BodyNode& node : found) {
    const std::vector<std::string>& patterns = rests.at({node.holder, node.attribute()});
    if (patterns.size() == 1) continue;
    node.rest.clear();
    for (const std::string& pattern : patterns) node.rest += kEachPattern + pattern;
  }
}

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

}  // namespace fusescope
