#include "planning/plan_options_json.h"

#include "base/json_fields.h"
#include "base/user_json.h"
#include "calibration/ranges.h"

namespace fusescope {
namespace {

Diagnostic badOptions(std::string problem, std::string field) {
  return {.message = std::move(problem), .where = {.attribute = std::move(field)}, .help = "See planning/FORMAT.md."};
}

const std::vector<std::string> kKeys{"compiler", "target",      "precisions", "workspace_bytes", "directives",
                                     "ranges",   "weight_only", "support",    "compiler_options"};

}  // namespace

Json precisionJson(const std::vector<DataType>& precisions) {
  Json list = Json::array();
  for (const DataType type : precisions) list.push_back(std::string(name(type)));
  if (list.empty()) list.push_back(std::string(name(DataType::F32)));
  return list;
}

Json toJson(const WeightOnly& weights) {
  return {{"type", toText(weights.type)}, {"block", weights.block}};
}

Result<WeightOnly> weightOnlyFromJson(const Json& json, const std::string& place) {
  if (json.is_object()) {
    TRY(checkKeys(json, {"type", "block"}, place, "weights that are stored as integers"));
    for (const char* key : {"type", "block"})
      if (!json.contains(key)) return badOptions(missingInWords(json, key), place + "." + key);
  }
  const bool isWhole = json.is_object() && json.contains("type") && json["type"].is_string() &&
                       json.contains("block") && json["block"].is_number_integer();
  const auto type = isWhole ? dataTypeFromName(json["type"].get<std::string>()) : std::nullopt;
  const std::int64_t block = isWhole ? json["block"].get<std::int64_t>() : -1;
  if ((type != DataType::I8 && type != DataType::I4) || block < 0)
    return badOptions("must be an object of type, int8 or int4, and block, 0 or more", place);
  return WeightOnly{*type, block};
}

Result<std::int64_t> workspaceBytesFromJson(const Json& json, const std::string& place) {
  if (!json.is_number_integer()) return badOptions("not a number", place);
  const auto bytes = json.get<std::int64_t>();
  if (bytes < 0) return badOptions("must be 0 or more", place);
  return bytes;
}

Json toJson(const PlanOptions& options) {
  Json precisions = Json::array();
  for (DataType type : options.precisions) precisions.push_back(toText(type));
  Json json = {{"target", options.target},
               {"precisions", precisions},
               {"workspace_bytes", options.workspaceBytes},
               {"directives", toJson(options.directives)}};
  if (options.compiler != kOwnCompiler) json["compiler"] = options.compiler;
  if (!options.compilerOptions.empty()) json["compiler_options"] = options.compilerOptions;
  if (options.support != nullptr) json["support"] = toJson(*options.support);
  if (options.ranges != nullptr) json["ranges"] = toJson(*options.ranges, Histograms::LeftOut);
  if (options.weightOnly.type != DataType::Undefined) json["weight_only"] = toJson(options.weightOnly);
  return json;
}

namespace {

/// Reads the options of a plan. Errors of its own fields are located below `place`.
Result<PlanOptions> planOptionsAt(const Json& json, const std::string& place) {
  const auto at = [&](const char* key) { return place.empty() ? key : place + "." + key; };
  if (!json.is_object()) return badOptions("the plan's options are not an object", place);
  TRY(checkKeys(json, kKeys, place, "a plan's options"));
  PlanOptions options;
  if (!json.contains("target")) return badOptions(missingInWords(json, "target"), at("target"));
  if (!json["target"].is_string()) return badOptions("is not a string", at("target"));
  options.target = json["target"].get<std::string>();
  if (json.contains("compiler")) {
    if (!json["compiler"].is_string()) return badOptions("is not a string", at("compiler"));
    options.compiler = json["compiler"].get<std::string>();
  }
  JsonFields fields(json);
  fields.read("compiler_options", options.compilerOptions);
  if (fields.error()) return badOptions("is not an object of strings", at("compiler_options"));
  if (json.contains("support"))
    options.support =
        std::make_shared<const CompilerSupport>(TRY(compilerSupportFromJson(json["support"], at("support"))));
  for (const Json& entry : json.value("precisions", Json::array())) {
    const auto type = entry.is_string() ? dataTypeFromName(entry.get<std::string>()) : std::nullopt;
    if (!type) return badOptions("'" + entry.dump() + "' is not a type", at("precisions"));
    options.precisions.push_back(*type);
  }
  if (json.contains("workspace_bytes"))
    options.workspaceBytes = TRY(workspaceBytesFromJson(json["workspace_bytes"], at("workspace_bytes")));
  if (json.contains("directives")) options.directives = TRY(directivesFromJson(json["directives"]));
  if (json.contains("ranges")) options.ranges = std::make_shared<const Ranges>(TRY(rangesFromJson(json["ranges"])));
  if (json.contains("weight_only"))
    options.weightOnly = TRY(weightOnlyFromJson(json["weight_only"], at("weight_only")));
  return options;
}

}  // namespace

Result<PlanOptions> planOptionsFromJson(const Json& json) {
  return planOptionsAt(json, "options");
}

Result<PlanOptions> planOptionsOfField(const Json& json) {
  return planOptionsAt(json, "");
}

}  // namespace fusescope
