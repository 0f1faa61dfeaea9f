#include "planning/plan_json.h"

#include <algorithm>
#include <set>

#include "analysis/cost.h"
#include "base/text.h"
#include "calibration/ranges.h"
#include "planning/fused_node_facts.h"
#include "planning/plan_totals.h"
#include "planning/predict_times.h"
#include "planning/price_choices_json.h"
#include "planning/segment_borders.h"

namespace fusescope {

namespace {

constexpr std::string_view kPlanFormat = "fusescope.plan";
constexpr int kFirstVersion = 1;
constexpr int kFirstWithPrices = 2;  // whose predictions are taken
constexpr int kFirstWithDigest = 3;  // from which on it can be told whether a file was edited

template <class T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json orNullNumber(const std::optional<double>& value) {
  return value ? jsonNumber(*value) : Json(nullptr);
}

constexpr const char* kDecidedParts[] = {"segments", "fused_nodes", "precision_map", "truncation", "casts"};

/// Of what the planner decided: a file whose parts have it is as it was written.
std::string digestOf(const Json& plan) {
  KeyBuilder key;
  for (const char* part : kDecidedParts)
    if (plan.contains(part)) key.text(decidedPart(plan, part).dump(-1, ' ', false, Json::error_handler_t::replace));
  return key.hash().hex();
}

class PlanWriter {
 public:
  explicit PlanWriter(const Plan& plan) : m_plan(plan), m_graph(plan.graph()), m_borders(segmentBorders(plan)) {}

  Json write() const {
    Json json;
    json["format"] = kPlanFormat;
    json["version"] = kPlanVersion;
    json["source"] = m_plan.source;
    json["model"] = m_plan.model->path;
    json["model_hash"] = unquantized(m_plan.model)->contentHash.hex();
    json["hash"] = m_plan.hash.hex();
    json["target"] = m_plan.target.canonical();
    json["precision"] = precision();
    json["options"] = toJson(m_plan.options);
    json["input_specs"] = list(m_plan.inputSpecs, [&](const InputSpec& spec) { return inputSpec(spec); });
    json["conditions"] = list(m_plan.model->conditions, [](const ExtentCondition& condition) {
      return Json{{"condition", condition.text()}, {"node", condition.node}, {"demanded", condition.demanded}};
    });
    json["segments"] = list(m_plan.segments, [&](const Segment& segment) { return segmentJson(segment); });
    json["fused_nodes"] = list(m_plan.fusedNodes, [&](const FusedNode& node) { return fusedNode(node); });
    json["precision_map"] = list(m_plan.precisionMap, [&](const PrecisionGrant& grant) { return grantJson(grant); });
    if (m_plan.priced.any()) json["by_price"] = priceChoicesJson(m_plan);
    json["truncation"] = truncation();
    json["casts"] = list(m_plan.casts, [&](const PlannedCast& cast) { return castJson(cast); });
    json["decisions"] = list(m_plan.decisions, [](const Decision& decision) {
      Json entry = toJson(decision);
      entry["message"] = message(decision);
      return entry;
    });
    json["predicted_ms"] = orNullNumber(m_plan.predictedMs);
    const PredictedTime time = predictedTime(m_plan);
    json["predicted"] = {{"ms", orNullNumber(m_plan.predictedMs)},
                         {"measured_ms", jsonNumber(time.measuredMs)},
                         {"fitted_ms", jsonNumber(time.fittedMs)},
                         {"least_ms", time.unknown == 0 ? jsonNumber(time.leastMs) : Json(nullptr)},
                         {"most_ms", time.unknown == 0 ? jsonNumber(time.mostMs) : Json(nullptr)},
                         {"unknown", time.unknown}};
    json["digest"] = digestOf(json);
    const PlanTotals totals = totalsWithoutBodies(m_plan);
    json["work"] = workJson(totals);
    json["totals"] = totalsJson(totals);
    if (m_plan.bodies.empty()) return json;
    const BodyTotals bodies = totalsOfBodies(m_plan);
    json["totals"]["in_bodies"] = totalsJson(bodies.inside);
    json["totals"]["in_bodies"]["bodies"] = bodies.bodies;
    return json;
  }

 private:
  /// What the plan comes to at the least, usual and most extents: all the same where they are fixed.
  Json workJson(const PlanTotals& totals) const {
    const CostAt usual{.flops = totals.flops, .bytes = totals.bytes, .ms = m_plan.predictedMs};
    const CostRange range = totals.range.value_or(CostRange{usual, usual});
    return {{"flops", orNull(usual.flops)},
            {"flops_least", orNull(range.least.flops)},
            {"flops_most", orNull(range.most.flops)},
            {"bytes", orNull(usual.bytes)},
            {"bytes_least", orNull(range.least.bytes)},
            {"bytes_most", orNull(range.most.bytes)},
            {"predicted_ms", orNullNumber(usual.ms)},
            {"predicted_ms_least", orNullNumber(range.least.ms)},
            {"predicted_ms_most", orNullNumber(range.most.ms)}};
  }

  template <class T, class F>
  static Json list(const std::vector<T>& entries, const F& write) {
    Json array = Json::array();
    for (const T& entry : entries) array.push_back(write(entry));
    return array;
  }

  /// What is said alike of a kernel and of a conversion.
  template <class T>
  static void addPrediction(Json& json, const T& priced) {
    const bool known = priced.predictedMs.has_value();
    json["predicted_ms"] = orNullNumber(priced.predictedMs);
    json["predicted_how"] = known ? Json(name(priced.predictedHow)) : Json(nullptr);
    json["predicted_spread"] = known ? jsonNumber(priced.predictedSpread) : Json(nullptr);
  }

  static void addRange(Json& json, const std::optional<CostRange>& range, bool work) {
    if (!range) return;
    if (work) {
      json["flops_least"] = orNull(range->least.flops);
      json["flops_most"] = orNull(range->most.flops);
    }
    json["bytes_least"] = orNull(range->least.bytes);
    json["bytes_most"] = orNull(range->most.bytes);
    json["predicted_ms_least"] = orNullNumber(range->least.ms);
    json["predicted_ms_most"] = orNullNumber(range->most.ms);
  }

  static Json totalsJson(const PlanTotals& totals) {
    return {{"fused_nodes", totals.fusedNodes},
            {"casts", totals.casts},
            {"flops", orNull(totals.flops)},
            {"bytes", orNull(totals.bytes)}};
  }

  std::string valueName(ValueId value) const { return m_graph.value(value).name; }
  std::string nodeName(NodeId node) const { return m_graph.node(node).name; }

  Json precision() const {
    Json types = Json::array();
    for (DataType type : m_plan.options.precisions) types.push_back(toText(type));
    if (types.empty()) types.push_back(toText(DataType::F32));
    return types;
  }

  static Json inputSpec(const InputSpec& spec) {
    return {{"name", spec.name}, {"type", toText(spec.dtype)}, {"min", spec.min}, {"opt", spec.opt},
            {"max", spec.max},   {"source", spec.source}};
  }

  Json segmentJson(const Segment& segment) const {
    return {{"id", segment.name},
            {"kind", std::string(name(segment.kind))},
            {"backend", segment.backend},
            {"nodes", list(segment.nodes, [&](NodeId id) { return Json(nodeName(id)); })},
            {"borders",
             list(m_borders[segment.id.index], [&](const SegmentBorder& border) { return toJson(m_plan, border); })}};
  }

  Json fusedNode(const FusedNode& node) const {
    Json json;
    json["id"] = node.id.index;
    json["name"] = node.name;
    json["kind"] = node.kind;
    json["segment"] = m_plan.segments[node.segment.index].name;
    json["root"] = nodeName(node.root);
    json["nodes"] = list(node.nodes, [&](NodeId id) { return Json(nodeName(id)); });
    json["origins"] = list(node.origins, [&](OriginId id) { return Json(m_plan.model->origins[id.index].name); });
    json["identity"] = node.identity.hex();
    json["predicted"] = isPrediction(m_plan, node);
    json["compute"] = toText(node.compute);
    json["accumulate"] = toText(node.accumulate);
    json["calculates"] = calculatesJson(node);
    json["inputs"] = list(node.inputs, [&](ValueId value) { return Json(valueName(value)); });
    json["reads"] = Json::array();
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      json["reads"].push_back({{"value", valueName(node.inputs[i])}, {"type", toText(node.reads[i])}});
    json["bindings"] = list(node.bindings, [&](const Binding& binding) {
      return Json{{"role", binding.role},
                  {"node", binding.node.valid() ? Json(nodeName(binding.node)) : Json(nullptr)},
                  {"value", binding.value.valid() ? Json(valueName(binding.value)) : Json(nullptr)}};
    });
    json["outputs"] = list(node.outputs, [&](const FusedOutput& output) {
      return Json{{"value", valueName(output.value)}, {"type", toText(output.type)}};
    });
    json["inner_edges"] = list(node.innerEdges, [&](const InnerEdge& edge) {
      return Json{{"value", valueName(edge.value)}, {"real", edge.real}, {"type", toText(edge.type)}};
    });
    json["flops"] = orNull(node.flops);
    json["bytes"] = orNull(node.bytes);
    addPrediction(json, node);
    addRange(json, node.range, true);
    addBodies(json, node);
    return json;
  }

  /// Of an If, Loop or Scan: what they take, and their plans.
  void addBodies(Json& json, const FusedNode& node) const {
    const auto isOf = [&](const PlannedBody& body) { return body.holder == node.root; };
    if (std::ranges::none_of(m_plan.bodies, isOf)) return;
    json["body_time"] = node.bodyTime ? toJson(*node.bodyTime) : Json(nullptr);
    json["bodies"] = Json::array();
    for (const PlannedBody& body : m_plan.bodies)
      if (isOf(body)) json["bodies"].push_back({{"attribute", body.attribute}, {"plan", toJson(*body.plan)}});
  }

  /// The nodes that calculate in another type than their kernel does as a whole.
  Json calculatesJson(const FusedNode& fused) const {
    Json nodes = Json::array();
    if (m_plan.inFallback(fused)) return nodes;
    for (const NodeId node : fused.nodes) {
      const DataType type = m_plan.calculates[node.index];
      if (type != DataType::Undefined && type != fused.compute)
        nodes.push_back({{"node", nodeName(node)}, {"type", toText(type)}});
    }
    return nodes;
  }

  Json grantJson(const PrecisionGrant& grant) const {
    return {{"node", nodeName(grant.node)},
            {"asked", grant.asked == DataType::Undefined ? Json(nullptr) : Json(toText(grant.asked))},
            {"granted", toText(grant.granted)},
            {"by", grant.by.text()},
            {"code", codeOf(grant.reason)}};
  }

  Json truncation() const {
    const auto entries = [&](const std::vector<TruncatedValue>& values) {
      return list(values, [&](const TruncatedValue& value) {
        Json json{{"value", valueName(value.value)}, {"from", toText(value.from)}, {"to", toText(value.to)}};
        if (!value.capturedBy.empty())
          json["captured_by"] = list(value.capturedBy, [&](NodeId holder) { return nodeName(holder); });
        return json;
      });
    };
    return {{"inputs", entries(m_plan.truncation.inputs)},
            {"constants", entries(m_plan.truncation.constants)},
            {"produced", entries(m_plan.truncation.produced)},
            {"refused", list(m_plan.truncation.refused, [&](const RefusedTruncation& refused) {
               return Json{{"value", valueName(refused.value)}, {"code", refused.code}, {"message", refused.message}};
             })}};
  }

  Json castJson(const PlannedCast& cast) const {
    const auto fusedName = [&](FusedNodeId id) { return Json(m_plan.fusedNodes[id.index].name); };
    Json json = {{"value", valueName(cast.value)},
                 {"from", toText(cast.from)},
                 {"to", toText(cast.to)},
                 {"bytes", orNull(cast.bytes)},
                 {"reason", cast.reason},
                 {"producer", cast.producer.valid() ? fusedName(cast.producer) : Json(nullptr)},
                 {"consumers", list(cast.consumers, fusedName)}};
    addPrediction(json, cast);
    addRange(json, cast.range, false);
    return json;
  }

  const Plan& m_plan;
  const Graph& m_graph;
  std::vector<std::vector<SegmentBorder>> m_borders;  ///< by SegmentId
};

/// Whether `now` says what `then` said, keys that `then` does not have apart.
bool saysSame(const Json& then, const Json& now) {
  if (then.is_array() && now.is_array()) return std::ranges::equal(then, now, saysSame);
  if (!then.is_object() || !now.is_object()) return then == now;
  for (const auto& [key, value] : then.items())
    if (!now.contains(key) || !saysSame(value, now.at(key))) return false;
  return true;
}

/// Whether a file of a version that read models otherwise is of this one: all nodes that it names are the model's, and
/// its inputs are.
bool isOfModel(const Json& json, const Model& model) {
  std::set<std::string> names, inputs;
  for (const Origin& origin : model.origins) names.insert(origin.name);
  for (const InputSpec& spec : model.inputSpecs) inputs.insert(spec.name);
  for (const Json& fused : json.at("fused_nodes"))
    for (const Json& origin : fused.at("origins"))
      if (!names.contains(origin.get<std::string>())) return false;
  return std::ranges::all_of(json.at("input_specs"),
                             [&](const Json& spec) { return inputs.contains(spec.at("name").get<std::string>()); });
}

/// A plan that other rules made: its options are planned by those of this Fusescope. Where that is not what it was, the
/// plan says so. Of the first version no price is taken, nor what was chosen by one: they may be of the emulator.
Result<std::shared_ptr<const Plan>> planAnew(const Json& json, std::shared_ptr<const Model> model, bool sameHash) {
  const PlanOptions options = TRY(planOptionsFromJson(json["options"]));
  const bool priced = json["version"] >= kFirstWithPrices;
  const auto plan = TRY(priced ? remakePlan(std::move(model), json) : makePlan(std::move(model), options));
  std::vector<std::string> different = differingParts(json, toJson(*plan));
  if (!sameHash) different.insert(different.begin(), "model");
  if (different.empty()) return plan;
  Plan replanned = *plan;
  replanned.decisions.push_back(
      decide("build.plan_made_anew", {}, "plan_file", {{"version", json["version"]}, {"parts", joined(different)}}));
  return std::make_shared<const Plan>(std::move(replanned));
}

Diagnostic badPlan(std::string problem, std::string field) {
  return {.message = std::move(problem), .where = {.attribute = std::move(field)}, .help = "See planning/FORMAT.md."};
}

}  // namespace

Json toJson(const BodyTime& time) {
  return {{"least_ms", jsonNumber(time.leastMs)},
          {"most_ms", jsonNumber(time.mostMs)},
          {"how", name(time.how)},
          {"spread", jsonNumber(time.spread)},
          {"iterations", orNull(time.iterations)},
          {"per_iteration", time.perIteration}};
}

Json toJson(const Plan& plan, const SegmentBorder& border) {
  Json conversion = nullptr;
  if (border.conversion != nullptr)
    conversion = {{"from", toText(border.conversion->from)},
                  {"to", toText(border.conversion->to)},
                  {"bytes", orNull(border.conversion->bytes)}};
  Json json = {{"value", plan.graph().value(border.value).name},
               {"direction", name(border.direction)},
               {"other", border.other.valid() ? Json(plan.segments[border.other.index].name) : Json(nullptr)},
               {"type", toText(border.type)},
               {"bytes", orNull(border.bytes)},
               {"conversion", std::move(conversion)}};
  if (!border.range) return json;
  json["bytes_least"] = orNull(border.range->least.bytes);
  json["bytes_most"] = orNull(border.range->most.bytes);
  return json;
}

Json toJson(const Plan& plan) {
  return PlanWriter(plan).write();
}

Json decidedPart(const Json& plan, const std::string& part) {
  Json decided = plan.at(part);
  if (part != "fused_nodes" && part != "casts") return decided;
  for (Json& entry : decided) {
    if (!entry.is_object()) continue;
    for (const char* key :
         {"predicted_ms", "predicted_how", "predicted_spread", "predicted_ms_least", "predicted_ms_most", "body_time"})
      entry.erase(key);
    if (!entry.contains("bodies")) continue;
    for (Json& body : entry["bodies"]) {
      Json parts = Json::object();
      for (const char* inner : kDecidedParts) parts[inner] = decidedPart(body.at("plan"), inner);
      body["plan"] = std::move(parts);
    }
  }
  return decided;
}

std::vector<std::string> differingParts(const Json& then, const Json& now) {
  std::vector<std::string> different;
  for (const char* part : kDecidedParts)
    if (!then.contains(part) || !saysSame(decidedPart(then, part), decidedPart(now, part)))
      different.emplace_back(part);
  return different;
}

Result<std::shared_ptr<const Plan>> planFromJson(const Json& json, std::shared_ptr<const Model> model) try {
  if (!json.is_object() || json.value("format", "") != kPlanFormat) {
    return badPlan("this is not a plan: 'format' is not " + std::string(kPlanFormat), "format");
  }
  const Json version = json.value("version", Json());
  if (!version.is_number_integer() || version < kFirstVersion || version > kPlanVersion) {
    return badPlan("this version of plan is not known; this Fusescope reads versions " + std::to_string(kFirstVersion) +
                       " to " + std::to_string(kPlanVersion),
                   "version");
  }
  const bool sameHash = json.value("model_hash", "") == model->contentHash.hex();
  if (!sameHash && (version >= kFirstWithDigest || !json.contains("model_hash") || !isOfModel(json, *model))) {
    return Diagnostic{.message = "the plan was made for another model than " + model->path,
                      .where = {.attribute = "model_hash"},
                      .help = "Plan this model again, or open the model that the plan was made for."};
  }
  if (!json.contains("options")) return badPlan("the plan has no options", "options");
  for (const char* part : kDecidedParts)
    if (!json.contains(part)) return badPlan("the plan lacks " + std::string(part), part);
  if (version >= kFirstWithDigest && json.value("digest", "") != digestOf(json)) {
    return Diagnostic{.message = "the file was edited: what it holds is not what was planned",
                      .where = {.attribute = "digest"},
                      .help = "Make the plan again; options and directives are what changes it."};
  }
  return planAnew(json, std::move(model), sameHash);
} catch (const Json::exception& error) {
  return badPlan(std::string("this plan lacks a field or holds one of another kind: ") + error.what(), {});
}

}  // namespace fusescope
