#include "planning/prices/price_choices_json.h"

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

constexpr int kFirstWithChoices = 4;  // the first version of a plan in which facts are not in decisions

Json orNull(const std::optional<double>& ms) {
  return ms ? Json(*ms) : Json(nullptr);
}

std::optional<double> msOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

bool holdsChoices(const Json& plan) {
  return plan.at("version").get<int>() >= kFirstWithChoices;
}

/// Returns the nodes of `graph` with these names.
std::vector<NodeId> nodesOf(const Graph& graph, const Json& names) {
  std::vector<NodeId> nodes;
  for (const Json& name : names)
    if (const auto node = graph.findNode(name.get<std::string>())) nodes.push_back(*node);
  return nodes;
}

/// Calls `found` with the code and arguments of each decision of a plan of an older version, and with the nodes of
/// `graph` that it is about.
template <class Found>
void forDecisions(const Graph& graph, const Json& plan, Found found) {
  for (const Json& decision : plan.at("decisions")) {
    Json names = Json::array();
    for (const Json& subject : decision.at("subjects"))
      if (subject.contains("node") && !subject.contains("bodies")) names.push_back(subject.at("node"));
    found(decision.at("code").get<std::string>(), decision.at("arguments"), nodesOf(graph, names));
  }
}

/// Before version 4, what prices had decided was only in decisions and in the codes of grants.
PricedIntegers integersOfDecisions(const Graph& graph, const Json& plan) {
  PricedIntegers integers;
  forDecisions(graph, plan, [&](const std::string& code, const Json& arguments, const std::vector<NodeId>& nodes) {
    const bool slower = code == "quantize.slower", faster = code == "quantize.faster";
    if (nodes.empty() || (!slower && !faster && code != "quantize.no_price")) return;
    integers[nodes.front()] = {!slower, msOf(arguments, "integers_ms"), msOf(arguments, "floats_ms")};
  });
  return integers;
}

PriceChoices choicesOfDecisions(const Graph& graph, const Json& plan) {
  PriceChoices choices;
  for (const Json& grant : plan.at("precision_map")) {
    if (grant.at("code") != codeOf(TypeReason::Measured)) continue;
    const auto node = graph.findNode(grant.at("node").get<std::string>());
    const auto type = dataTypeFromName(grant.at("granted").get<std::string>());
    if (!node || !type) continue;
    if (choices.types.empty()) choices.types.assign(graph.nodeIdLimit(), DataType::Undefined);
    choices.types[node->index] = *type;
  }
  forDecisions(graph, plan, [&](const std::string& code, const Json& arguments, const std::vector<NodeId>& nodes) {
    if (code == "precision.search_bounded") choices.typesWeighed = arguments.at("types").get<std::size_t>();
    if (code == "fuse.parallel_slower")
      choices.separate.push_back(
          {nodes, arguments.at("together_ms").get<double>(), arguments.at("apart_ms").get<double>()});
  });
  return choices;
}

}  // namespace

Json priceChoicesJson(const Plan& plan) {
  const PriceChoices& priced = plan.priced;
  const Graph& before = *unquantized(plan.model)->graph;
  Json integers = Json::array(), types = Json::array(), apart = Json::array();
  for (const auto& [node, price] : priced.integers)
    integers.push_back({{"node", before.node(node).name},
                        {"integers", price.integers},
                        {"integers_ms", orNull(price.integersMs)},
                        {"floats_ms", orNull(price.floatsMs)}});
  for (const NodeId node : plan.graph().order())
    if (node.index < priced.types.size() && priced.types[node.index] != DataType::Undefined)
      types.push_back({{"node", plan.graph().node(node).name}, {"type", name(priced.types[node.index])}});
  for (const SeparateProducts& parallel : priced.separate) {
    Json products = Json::array();
    for (const NodeId product : parallel.products) products.push_back(plan.graph().node(product).name);
    apart.push_back(
        {{"products", std::move(products)}, {"together_ms", parallel.togetherMs}, {"apart_ms", parallel.apartMs}});
  }
  return {{"integers", std::move(integers)},
          {"types", std::move(types)},
          {"types_weighed", priced.typesWeighed},
          {"apart", std::move(apart)}};
}

PricedIntegers recordedIntegers(const Graph& graph, const Json& plan) {
  if (!holdsChoices(plan)) return integersOfDecisions(graph, plan);
  PricedIntegers integers;
  if (!plan.contains("by_price")) return integers;
  for (const Json& product : plan.at("by_price").at("integers"))
    if (const auto node = graph.findNode(product.at("node").get<std::string>()))
      integers[*node] = {product.at("integers").get<bool>(), msOf(product, "integers_ms"), msOf(product, "floats_ms")};
  return integers;
}

PriceChoices recordedChoices(const Graph& graph, const Json& plan, PricedIntegers integers) {
  PriceChoices choices;
  if (!holdsChoices(plan)) {
    choices = choicesOfDecisions(graph, plan);
  } else if (plan.contains("by_price")) {
    const Json& recorded = plan.at("by_price");
    choices.types.assign(graph.nodeIdLimit(), DataType::Undefined);
    for (const Json& choice : recorded.at("types")) {
      const auto node = graph.findNode(choice.at("node").get<std::string>());
      const auto type = dataTypeFromName(choice.at("type").get<std::string>());
      if (node && type) choices.types[node->index] = *type;
    }
    choices.typesWeighed = recorded.at("types_weighed").get<std::size_t>();
    for (const Json& parallel : recorded.at("apart"))
      choices.separate.push_back({nodesOf(graph, parallel.at("products")), parallel.at("together_ms").get<double>(),
                                  parallel.at("apart_ms").get<double>()});
  }
  choices.integers = std::move(integers);
  return choices;
}

}  // namespace fusescope
