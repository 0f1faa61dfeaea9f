#include "ir/place.h"

#include <algorithm>

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Returns the part of `text` after "NAME/", or nothing if `text` does not begin with it or nothing follows.
std::optional<std::string_view> behind(std::string_view name, std::string_view text) {
  if (text.size() <= name.size() + 1 || !text.starts_with(name) || text[name.size()] != '/') return std::nullopt;
  return text.substr(name.size() + 1);
}

/// Returns the names of nodes and values in the bodies of `holder` other than the one in `attribute`, without captured
/// values.
std::shared_ptr<const std::set<std::string, std::less<>>> namesOfOthers(const Node& holder,
                                                                        const std::string& attribute) {
  auto names = std::make_shared<std::set<std::string, std::less<>>>();
  for (const auto& [key, held] : holder.attributes) {
    const auto* body = std::get_if<Subgraph>(&held);
    if (body == nullptr || key == attribute) continue;
    const Graph& graph = *body->graph;
    for (const NodeId node : graph.order()) names->insert(graph.node(node).name);
    const auto& inputs = graph.inputs();
    const std::set<ValueId> captured(inputs.end() - static_cast<std::ptrdiff_t>(body->captures.size()), inputs.end());
    for (const ValueId value : graph.allValues())
      if (!captured.contains(value)) names->insert(graph.value(value).name);
  }
  return names;
}

}  // namespace

BodyPath BodyPath::into(std::string holder, std::string attribute) const {
  BodyPath inner = *this;
  inner.m_steps.push_back({std::move(holder), std::move(attribute)});
  return inner;
}

BodyPath BodyPath::into(const Node& holder, const std::string& attribute) const {
  BodyPath inner = into(holder.name, attribute);
  inner.m_steps.back().shared = namesOfOthers(holder, attribute);
  return inner;
}

BodyPath BodyPath::within(const BodyPath& outer) const {
  BodyPath whole = outer;
  whole.m_steps.insert(whole.m_steps.end(), m_steps.begin(), m_steps.end());
  return whole;
}

std::optional<NetworkPlace> BodyPath::holder() const {
  if (m_steps.empty()) return std::nullopt;
  return NetworkPlace{BodyPath({m_steps.begin(), m_steps.end() - 1}), m_steps.back().holder};
}

std::string BodyPath::exactly(std::string_view name) const {
  std::string text;
  for (const BodyPathStep& step : m_steps) text += step.holder + "/" + step.attribute + "/";
  return text.append(name);
}

std::string BodyPath::text() const {
  std::string text = exactly({});
  if (!text.empty()) text.pop_back();
  return text;
}

std::string BodyPath::of(std::string_view name) const {
  std::string text;
  for (std::size_t i = 0; i < m_steps.size(); ++i) {
    const BodyPathStep& step = m_steps[i];
    const std::string_view inside = i + 1 < m_steps.size() ? std::string_view(m_steps[i + 1].holder) : name;
    text += step.holder + "/";
    if (step.shared == nullptr || step.shared->contains(inside)) text += step.attribute + "/";
  }
  return text.append(name);
}

Json toJson(const BodyPath& path) {
  Json steps = Json::array();
  for (const BodyPathStep& step : path.steps())
    steps.push_back({{"holder", step.holder}, {"attribute", step.attribute}});
  return steps;
}

BodyPath bodyPathFromJson(const Json& json) {
  BodyPath path;
  for (const Json& step : json)
    path = path.into(step.at("holder").get<std::string>(), step.at("attribute").get<std::string>());
  return path;
}

NetworkPlace placeFromText(const BodyPath& bodies, std::string_view text) {
  std::vector<BodyPathStep> steps = bodies.steps();
  for (BodyPathStep& step : steps) {
    text = behind(step.holder, text).value_or(text);
    const auto rest = behind(step.attribute, text);
    if (!rest) step.shared = std::make_shared<std::set<std::string, std::less<>>>();
    text = rest.value_or(text);
  }
  return {BodyPath(std::move(steps)), std::string(text)};
}

std::vector<NamedBody> bodiesNamed(const Graph& graph, std::string_view text) {
  if (text.find('/') == std::string_view::npos) return {};
  return bodiesNamed(graph, graph.order(), text);
}

std::vector<NamedBody> bodiesNamed(const Graph& graph, const std::vector<NodeId>& holders, std::string_view text) {
  std::vector<NamedBody> found;
  for (const NodeId holder : holders) {
    const Node& node = graph.node(holder);
    const auto rest = behind(node.name, text);
    if (!rest || !hasBody(node)) continue;
    std::vector<NamedBody> bodies;
    for (const auto& [key, attribute] : node.attributes)
      if (const auto* body = std::get_if<Subgraph>(&attribute)) bodies.push_back({holder, key, body, *rest});
    const auto named =
        std::ranges::find_if(bodies, [&](const NamedBody& body) { return behind(body.attribute, *rest).has_value(); });
    if (named != bodies.end()) {
      NamedBody only = *named;
      only.rest = *behind(only.attribute, *rest);
      bodies.assign(1, only);
    }
    found.insert(found.end(), bodies.begin(), bodies.end());
  }
  return found;
}

}  // namespace fusescope
