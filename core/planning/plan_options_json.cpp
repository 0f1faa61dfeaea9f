#include "calibration/ranges.h"
#include "planning/plan_json.h"

namespace fusescope {
namespace {

Diagnostic badOptions(std::string problem, std::string field) {
  return {.message = std::move(problem), .where = {.attribute = std::move(field)}, .help = "See planning/FORMAT.md."};
}

Result<WeightOnly> weightOnlyFromJson(const Json& json) {
  const auto type = dataTypeFromName(json.value("type", ""));
  const std::int64_t block = json.value("block", std::int64_t{-1});
  if ((type != DataType::I8 && type != DataType::I4) || block < 0)
    return badOptions("must be int8 or int4, with a block of 0 or more", "options.weight_only");
  return WeightOnly{*type, block};
}

}  // namespace

Json toJson(const PlanOptions& options) {
  Json precisions = Json::array();
  for (DataType type : options.precisions) precisions.push_back(toText(type));
  Json json = {{"target", options.target},
               {"precisions", precisions},
               {"workspace_bytes", options.workspaceBytes},
               {"directives", toJson(options.directives)}};
  if (options.ranges != nullptr) json["ranges"] = toJson(*options.ranges, Histograms::LeftOut);
  if (options.weightOnly.type != DataType::Undefined)
    json["weight_only"] = {{"type", toText(options.weightOnly.type)}, {"block", options.weightOnly.block}};
  return json;
}

Result<PlanOptions> planOptionsFromJson(const Json& json) {
  if (!json.is_object()) return badOptions("the plan's options are not an object", "options");
  PlanOptions options;
  if (!json.contains("target") || !json["target"].is_string()) return badOptions("missing target", "options.target");
  options.target = json["target"].get<std::string>();
  for (const Json& entry : json.value("precisions", Json::array())) {
    const auto type = entry.is_string() ? dataTypeFromName(entry.get<std::string>()) : std::nullopt;
    if (!type) return badOptions("'" + entry.dump() + "' is not a type", "options.precisions");
    options.precisions.push_back(*type);
  }
  if (json.contains("workspace_bytes")) {
    if (!json["workspace_bytes"].is_number_integer()) return badOptions("not a number", "options.workspace_bytes");
    options.workspaceBytes = json["workspace_bytes"].get<std::int64_t>();
    if (options.workspaceBytes < 0) return badOptions("must be 0 or more", "options.workspace_bytes");
  }
  if (json.contains("directives")) options.directives = TRY(directivesFromJson(json["directives"]));
  if (json.contains("ranges")) options.ranges = std::make_shared<const Ranges>(TRY(rangesFromJson(json["ranges"])));
  if (json.contains("weight_only")) options.weightOnly = TRY(weightOnlyFromJson(json["weight_only"]));
  return options;
}

}  // namespace fusescope
