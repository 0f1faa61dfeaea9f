#include "planning/plan_json.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "planning/cover_json.h"
#include "planning/plan_options_json.h"
#include "planning/plan_totals.h"
#include "planning/prices/price_choices_json.h"

namespace fusescope {

namespace {

constexpr int kFirstVersion = 1;
constexpr int kFirstWithPrices = 2;  // the first version whose predictions are used
constexpr int kFirstWithDigest = 3;  // the first version for which it is known whether a file was edited

constexpr const char* kDecidedParts[] = {"segments", "fused_nodes", "precision_map", "truncation", "casts"};

/// Hashes what the planner decided. If the parts of a file have this hash, the file was not edited.
std::string digestOf(const Json& plan) {
  KeyBuilder key;
  for (const char* part : kDecidedParts)
    if (plan.contains(part)) key.text(decidedPart(plan, part).dump(-1, ' ', false, Json::error_handler_t::replace));
  return key.hash().hex();
}

/// Returns the costs of the plan at the smallest, usual and largest extents; they are equal if the extents are fixed.
Json workJson(const Plan& plan) {
  const PlanTotals totals = totalsWithoutBodies(plan);
  const CostAt usual{.flops = totals.flops, .bytes = totals.bytes, .ms = plan.predictedMs};
  const CostRange range = totals.range.value_or(CostRange{usual, usual});
  return {{"flops", jsonOrNull(usual.flops)},
          {"flops_least", jsonOrNull(range.least.flops)},
          {"flops_most", jsonOrNull(range.most.flops)},
          {"bytes", jsonOrNull(usual.bytes)},
          {"bytes_least", jsonOrNull(range.least.bytes)},
          {"bytes_most", jsonOrNull(range.most.bytes)},
          {"predicted_ms", jsonOrNull(usual.ms)},
          {"predicted_ms_least", jsonOrNull(range.least.ms)},
          {"predicted_ms_most", jsonOrNull(range.most.ms)}};
}

Json truncationJson(const Plan& plan, const CoverWriter& writer) {
  const auto entries = [&](const std::vector<TruncatedValue>& values) {
    return jsonList(values, [&](const TruncatedValue& value) {
      Json json{{"value", writer.valueName(value.value)}, {"from", toText(value.from)}, {"to", toText(value.to)}};
      if (!value.capturedBy.empty())
        json["captured_by"] = jsonList(value.capturedBy, [&](NodeId holder) { return writer.nodeName(holder); });
      return json;
    });
  };
  return {
      {"inputs", entries(plan.truncation.inputs)},
      {"constants", entries(plan.truncation.constants)},
      {"produced", entries(plan.truncation.produced)},
      {"refused", jsonList(plan.truncation.refused, [&](const RefusedTruncation& refused) {
         return Json{{"value", writer.valueName(refused.value)}, {"code", refused.code}, {"message", refused.message}};
       })}};
}

Json predictedJson(const Plan& plan) {
  const PredictedTime time = predictedTime(plan);
  return {{"ms", jsonOrNull(plan.predictedMs)},
          {"measured_ms", jsonNumber(time.measuredMs)},
          {"fitted_ms", jsonNumber(time.fittedMs)},
          {"least_ms", time.unknown == 0 ? jsonNumber(time.leastMs) : Json(nullptr)},
          {"most_ms", time.unknown == 0 ? jsonNumber(time.mostMs) : Json(nullptr)},
          {"unknown", time.unknown}};
}

/// Returns whether `now` has the same contents as `then`, apart from keys that `then` does not have.
bool saysSame(const Json& then, const Json& now) {
  if (then.is_array() && now.is_array()) return std::ranges::equal(then, now, saysSame);
  if (!then.is_object() || !now.is_object()) return then == now;
  for (const auto& [key, value] : then.items())
    if (!now.contains(key) || !saysSame(value, now.at(key))) return false;
  return true;
}

/// Returns whether a file of a version that read models in another way is of this model: all nodes that it names and
/// its inputs are in the model.
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

/// Makes a plan anew from the options of a plan that was made by other rules. If the result differs, the plan says so.
/// From the first version no prices and no choices by price are used, because they may be of the emulator.
Result<std::shared_ptr<const Plan>> planAnew(const Json& json, std::shared_ptr<const Model> model, bool sameHash) {
  const PlanOptions options = TRY(planOptionsFromJson(json["options"]));
  const bool priced = json["version"] >= kFirstWithPrices;
  const auto plan = TRY(priced ? remakePlan(std::move(model), json) : makePlan(std::move(model), options));
  std::vector<std::string> different = differingParts(json, toJson(*plan));
  if (!sameHash) different.insert(different.begin(), "model");
  if (different.empty()) return plan;
  Plan replanned = *plan;
  replanned.decisions.push_back(decide("build.plan_made_anew", {}, "plan_file",
                                       {{"version", json["version"].get<int>()}, {"parts", joined(different)}}));
  return std::make_shared<const Plan>(std::move(replanned));
}

Diagnostic badPlan(std::string problem, std::string field) {
  return {.message = std::move(problem), .where = {.attribute = std::move(field)}, .help = "See planning/FORMAT.md."};
}

}  // namespace

Json toJson(const Plan& plan) {
  const CoverWriter writer(plan);
  Json json = writer.head();
  writer.addKernels(json);
  if (plan.priced.any()) json["by_price"] = priceChoicesJson(plan);
  json["truncation"] = truncationJson(plan, writer);
  writer.addCasts(json);
  json["predicted_ms"] = jsonOrNull(plan.predictedMs);
  json["predicted"] = predictedJson(plan);
  json["digest"] = digestOf(json);
  json["work"] = workJson(plan);
  writer.addTotals(json);
  return json;
}

Json decidedPart(const Json& plan, const std::string& part) {
  Json decided = plan.at(part);
  if (part != "fused_nodes" && part != "casts" && part != "segments") return decided;
  for (Json& entry : decided) {
    if (!entry.is_object()) continue;
    for (const char* key : {"predicted_ms", "predicted_how", "predicted_spread", "predicted_ms_least",
                            "predicted_ms_most", "body_time", "reasons", "ms", "unknown_times", "timed"})
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
  if (json.value("source", "") == name(CoverSource::ReadBack)) {
    return badPlan("this plan was read back from " + json.at("compiler").at("name").get<std::string>() +
                       ": it cannot be made again from options; the plan that was asked for is in 'asked'",
                   "source");
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
                      .help = "Plan this model again, or open the model for which the plan was made."};
  }
  if (!json.contains("options")) return badPlan("the plan has no options", "options");
  for (const char* part : kDecidedParts)
    if (!json.contains(part)) return badPlan("the plan lacks " + std::string(part), part);
  if (version >= kFirstWithDigest && json.value("digest", "") != digestOf(json)) {
    return Diagnostic{.message = "the file was edited: its contents are not what was planned",
                      .where = {.attribute = "digest"},
                      .help = "Make the plan again; to change a plan, change its options and directives."};
  }
  return planAnew(json, std::move(model), sameHash);
} catch (const Json::exception& error) {
  return badPlan(std::string("a field of this plan is missing or has the wrong type: ") + error.what(), {});
}

}  // namespace fusescope
