#include "engine/description/model_io.h"

#include <charconv>
#include <map>
#include <set>

#include "base/json.h"
#include "engine/description/damaged.h"
#include "engine/description/graph_io.h"
#include "ir/graph.h"
#include "ir/type_text.h"

namespace fusescope {
namespace {

constexpr int kFirstWithFactsOfOrigins = 5;

Result<Hash128> hashFromHex(const std::string& text) {
  Hash128 hash;
  if (text.size() != 32) return damaged("a hash has the wrong length");
  const char* begin = text.data();
  const auto high = std::from_chars(begin, begin + 16, hash.high, 16);
  const auto low = std::from_chars(begin + 16, begin + 32, hash.low, 16);
  if (high.ptr != begin + 16 || low.ptr != begin + 32) return damaged("a hash is not a number");
  return hash;
}

Result<DataType> dataTypeFromJson(const Json& json) {
  const auto text = json.get<std::string>();
  const auto type = dataTypeFromName(text);
  if (!type && text != "undefined") return damaged("unknown type " + text);
  return type.value_or(DataType::Undefined);
}

Json inputSpecsToJson(const std::vector<InputSpec>& specs) {
  Json json = Json::array();
  for (const InputSpec& spec : specs)
    json.push_back({{"name", spec.name},
                    {"type", name(spec.dtype)},
                    {"min", spec.min},
                    {"opt", spec.opt},
                    {"max", spec.max},
                    {"source", spec.source}});
  return json;
}

Result<std::vector<InputSpec>> inputSpecsFromJson(const Json& json) {
  std::vector<InputSpec> specs;
  for (const Json& entry : json) {
    const DataType type = TRY(dataTypeFromJson(entry.at("type")));
    InputSpec spec{.name = entry.at("name").get<std::string>(), .dtype = type};
    spec.min = entry.at("min").get<Dims>();
    spec.opt = entry.at("opt").get<Dims>();
    spec.max = entry.at("max").get<Dims>();
    spec.source = entry.at("source").get<std::string>();
    specs.push_back(std::move(spec));
  }
  return specs;
}

constexpr const char* kEqual = "equal";
constexpr const char* kAtMost = "at_most";

/// Returns null if there are no conditions, as in files of older versions.
Json conditionsToJson(const Model& model) {
  if (model.conditions.empty()) return nullptr;
  Json conditions = Json::array(), inputs = Json::array();
  for (const ExtentCondition& condition : model.conditions)
    conditions.push_back({condition.left, condition.right, condition.node,
                          condition.relation == ExtentCondition::Relation::AtMost ? kAtMost : kEqual,
                          condition.demanded});
  for (const TensorType& type : model.declaredInputs) inputs.push_back(typeText(type));
  return {{"all", std::move(conditions)}, {"inputs", std::move(inputs)}};
}

Status readConditions(const Json& json, Model& model) {
  const Json conditions = json.value("conditions", Json());
  if (!conditions.is_object()) return Done{};
  for (const Json& entry : conditions.at("all")) {
    ExtentCondition condition{.left = entry.at(0).get<std::string>(),
                              .right = entry.at(1).get<std::string>(),
                              .node = entry.at(2).get<std::string>()};
    if (entry.size() > 3) {  // earlier versions contain only extents that are assumed to be equal
      if (entry.at(3).get<std::string>() == kAtMost) condition.relation = ExtentCondition::Relation::AtMost;
      condition.demanded = entry.at(4).get<bool>();
    }
    model.conditions.push_back(std::move(condition));
  }
  for (const Json& entry : conditions.at("inputs"))
    model.declaredInputs.push_back(TRY(parseType(entry.get<std::string>())));
  return Done{};
}

/// Checks that each node of the file is an origin of some node, or that a decision says what became of it.
Status checkOrigins(const Model& model) {
  std::vector<bool> isOrigin(model.origins.size());
  for (const NodeId id : model.graph->order())
    for (const OriginId origin : model.graph->node(id).origins) {
      if (!origin.valid() || origin.index >= model.origins.size()) return damaged("a node has an unknown origin");
      isOrigin[origin.index] = true;
    }
  std::set<std::string> removed;
  for (const Decision& decision : model.decisions)
    if (decision.kind == DecisionKind::Normalise)
      for (const Subject& subject : decision.subjects) removed.insert(subject.text());
  for (std::size_t i = 0; i < isOrigin.size(); ++i)
    if (!isOrigin[i] && !removed.contains(model.origins[i].name))
      return damaged("no decision says what became of node " + model.origins[i].name);
  return Done{};
}

/// Omits the fields at the end that are empty.
Json originToJson(const Origin& origin) {
  Json json = Json::array({origin.name, origin.op, origin.domain, origin.module, origin.plainForm, origin.equation,
                           origin.programNode, origin.source});
  while (json.size() > 3 && json.back().get_ref<const std::string&>().empty()) json.erase(json.size() - 1);
  return json;
}

Origin originFromJson(const Json& json) {
  const auto text = [&](std::size_t i) { return i < json.size() ? json.at(i).get<std::string>() : std::string(); };
  return {.name = json.at(0).get<std::string>(),
          .op = json.at(1).get<std::string>(),
          .domain = json.at(2).get<std::string>(),
          .module = text(3),
          .plainForm = text(4),
          .equation = text(5),
          .programNode = text(6),
          .source = text(7)};
}

/// Before version 5 of the description, only decisions say how the nodes of the file were read.
void takeFromDecisions(const Json& decisions, Model& model) {
  std::map<std::string, Origin*> origins;
  for (Origin& origin : model.origins) origins.emplace(origin.name, &origin);
  const auto set = [&](const std::string& node, std::string Origin::*field, std::string text) {
    if (const auto origin = origins.find(node); origin != origins.end()) origin->second->*field = std::move(text);
  };
  for (const Json& decision : decisions) {
    const auto code = decision.at("code").get<std::string>();
    const Json& arguments = decision.at("arguments");
    const auto node = [&] { return decision.at("subjects").at(0).at("node").get<std::string>(); };
    if (code == "import.plain_form") set(node(), &Origin::plainForm, arguments.at("form").get<std::string>());
    if (code == "normalise.einsum_product") set(node(), &Origin::equation, arguments.at("equation").get<std::string>());
  }
}

/// Returns everything of a model except its graph.
Json headToJson(const Model& model) {
  Json origins = Json::array(), decisions = Json::array(), bodies = Json::array();
  for (const Origin& origin : model.origins) origins.push_back(originToJson(origin));
  for (const Decision& decision : model.decisions) decisions.push_back(toJson(decision));
  for (const ModelBody& body : model.bodies) {
    bodies.push_back(headToJson(*body.model));
    bodies.back()["holder"] = body.holder.index;
    bodies.back()["attribute"] = body.attribute;
  }
  return {{"path", model.path},
          {"format", model.format},
          {"producer", model.producer},
          {"opset", model.opset},
          {"origins", std::move(origins)},
          {"input_specs", inputSpecsToJson(model.inputSpecs)},
          {"decisions", std::move(decisions)},
          {"conditions", conditionsToJson(model)},
          {"file_nodes", model.fileNodes},
          {"parameters", model.parameters},
          {"weight_bytes", model.weightBytes},
          {"content_hash", model.contentHash.hex()},
          {"bodies", std::move(bodies)}};
}

Result<Model> readModel(const Json& json, std::shared_ptr<const Graph> graph, int version);

/// Returns the body that `json` describes; its graph is in `graph`.
Result<ModelBody> readBody(const Json& json, const Graph& graph, int version) {
  ModelBody body{.holder = NodeId(json.at("holder").get<std::size_t>()),
                 .attribute = json.at("attribute").get<std::string>()};
  if (!graph.has(body.holder)) return damaged("a body belongs to no node");
  const Node& holder = graph.node(body.holder);
  const auto found = holder.attributes.find(body.attribute);
  const auto* subgraph = found == holder.attributes.end() ? nullptr : std::get_if<Subgraph>(&found->second);
  if (subgraph == nullptr) return damaged("a body belongs to a node that has none");
  Model model = TRY(readModel(json, subgraph->graph, version));
  model.isBody = true;
  body.model = std::make_shared<const Model>(std::move(model));
  return body;
}

/// Files of the first versions do not list bodies, so that these have no plans.
Result<Model> readModel(const Json& json, std::shared_ptr<const Graph> graph, int version) {
  Model model;
  model.path = json.at("path").get<std::string>();
  model.format = json.at("format").get<std::string>();
  model.producer = json.at("producer").get<std::string>();
  model.opset = json.at("opset").get<std::map<std::string, std::int64_t>>();
  for (const Json& origin : json.at("origins")) model.origins.push_back(originFromJson(origin));
  model.inputSpecs = TRY(inputSpecsFromJson(json.at("input_specs")));
  for (const Json& decision : json.at("decisions")) model.decisions.push_back(TRY(decisionFromJson(decision)));
  TRY(readConditions(json, model));
  model.fileNodes = json.at("file_nodes").get<std::int64_t>();
  model.parameters = json.at("parameters").get<std::int64_t>();
  model.weightBytes = json.at("weight_bytes").get<std::int64_t>();
  model.contentHash = TRY(hashFromHex(json.at("content_hash").get<std::string>()));
  model.graph = std::move(graph);
  model.inputsFitted = true;
  if (version < kFirstWithFactsOfOrigins) takeFromDecisions(json.at("decisions"), model);
  TRY(checkOrigins(model));
  if (json.contains("bodies"))
    for (const Json& body : json.at("bodies")) model.bodies.push_back(TRY(readBody(body, *model.graph, version)));
  return model;
}

}  // namespace

Json modelToJson(const Model& model, WeightBlobWriter& weights) {
  Json json = headToJson(model);
  json["graph"] = graphToJson(*model.graph, weights);
  return json;
}

Result<std::shared_ptr<const Model>> modelFromJson(const Json& json, const WeightBlobReader& weights, int version) {
  auto graph = TRY(graphFromJson(json.at("graph"), weights));
  Model model = TRY(readModel(json, std::move(graph), version));
  model.files = {weights.file()};
  return std::make_shared<const Model>(std::move(model));
}

}  // namespace fusescope
