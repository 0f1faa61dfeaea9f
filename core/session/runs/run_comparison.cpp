#include "session/runs/run_comparison.h"

#include "base/json_fields.h"
#include "ir/graph.h"
#include "session/documents/report_json.h"

namespace fusescope {
namespace {

Json textOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Result<Range> rangeFromJson(const Json& json) {
  Range range;
  JsonFields fields(json);
  fields.require("least").require("most").readNumber("least", range.least).readNumber("most", range.most);
  return fields.result(range);
}

Result<ComparedGroup> groupFromJson(const Json& json) {
  ComparedGroup group;
  JsonFields fields(json);
  BodyPathStep body;
  fields.read("origins", group.origins).read("body_of", body.holder).read("attribute", body.attribute);
  if (!body.holder.empty()) group.body = BodyPath({body});  // the text of the body gives the same path
  fields.read("a", group.a).read("b", group.b).read("same", group.same);
  fields.read("a_identities", group.identitiesOfA).read("b_identities", group.identitiesOfB);
  fields.readNumber("a_ms", group.aMs).readNumber("b_ms", group.bMs).readNumber("delta_ms", group.deltaMs);
  fields.parse("delta_range_ms", group.deltaRangeMs, rangeFromJson);
  return fields.result(std::move(group));
}

/// Reads the number of values in bodies; none of them is compared.
Result<std::int64_t> countFromJson(const Json& json) {
  std::int64_t count = 0;
  JsonFields fields(json);
  fields.read("count", count);
  return fields.result(count);
}

Json differencesJson(const std::vector<ComparedDifference>& differences) {
  Json all = Json::array();
  for (const ComparedDifference& difference : differences) all.push_back(toJson(difference));
  return all;
}

}  // namespace

ComparedGroup keptGroup(const CompareGroup& group) {
  ComparedGroup kept{.origins = group.origins,
                     .body = group.body,
                     .same = group.same,
                     .aMs = group.aMs,
                     .bMs = group.bMs,
                     .deltaMs = group.deltaMs,
                     .deltaRangeMs = group.deltaRangeMs};
  const auto keep = [](const std::vector<CoveringNode>& nodes, std::vector<std::string>& names,
                       std::vector<std::string>& identities) {
    for (const CoveringNode& node : nodes) {
      names.push_back(node.place.text());
      identities.push_back(node.identity.hex());
    }
  };
  keep(group.a, kept.a, kept.identitiesOfA);
  keep(group.b, kept.b, kept.identitiesOfB);
  return kept;
}

Json toJson(const ComparedGroup& group) {
  const std::optional<NetworkPlace> holder = group.body.holder();
  return {{"origins", group.origins},
          {"body_of", holder ? Json(holder->text()) : Json(nullptr)},
          {"attribute", holder ? Json(group.body.steps().back().attribute) : Json(nullptr)},
          {"a", group.a},
          {"b", group.b},
          {"a_identities", group.identitiesOfA},
          {"b_identities", group.identitiesOfB},
          {"same", group.same},
          {"a_ms", optionalNumber(group.aMs)},
          {"b_ms", optionalNumber(group.bMs)},
          {"delta_ms", optionalNumber(group.deltaMs)},
          {"delta_range_ms", rangeJson(group.deltaRangeMs)}};
}

Json toJson(const CompareReport& report) {
  Json json = {{"format", "fusescope.compare"}, {"version", 1}, {"a", report.a}, {"b", report.b}};
  json["groups"] = Json::array();
  for (const auto& group : report.groups) json["groups"].push_back(toJson(keptGroup(group)));
  json["outputs"] = comparisonsJson(report.outputs);
  json["values"] = comparisonsJson(report.values);
  json["values_in_bodies"] = {{"count", report.valuesInBodies}, {"compared", 0}};
  json["a_ms"] = optionalNumber(report.aMs);
  json["b_ms"] = optionalNumber(report.bMs);
  json["turns"] = report.turns;
  json["ratio_range"] = rangeJson(report.ratioRange);
  json["a_compiler"] = report.compilerOfA;
  json["b_compiler"] = report.compilerOfB;
  json["a_threads"] = report.threadsOfA;
  json["b_threads"] = report.threadsOfB;
  json["differences"] = differencesJson(report.differences);
  json["not_ranked"] = report.notRanked.empty() ? Json(nullptr) : Json(report.notRanked);
  json["time_unavailable"] = report.timeUnavailable.empty() ? Json(nullptr) : Json(report.timeUnavailable);
  json["groups_unavailable"] = report.groupsUnavailable.empty() ? Json(nullptr) : Json(report.groupsUnavailable);
  return json;
}

Json toJson(const RunComparison& comparison) {
  Json groups = Json::array();
  for (const ComparedGroup& group : comparison.groups) groups.push_back(toJson(group));
  return {{"a", comparison.a},
          {"b", comparison.b},
          {"inputs", toJson(comparison.inputs)},
          {"groups", std::move(groups)},
          {"outputs", comparisonsJson(comparison.outputs)},
          {"values", comparisonsJson(comparison.values)},
          {"values_in_bodies", {{"count", comparison.valuesInBodies}, {"compared", 0}}},
          {"a_ms", optionalNumber(comparison.aMs)},
          {"b_ms", optionalNumber(comparison.bMs)},
          {"turns", comparison.turns},
          {"ratio_range", rangeJson(comparison.ratioRange)},
          {"differences", differencesJson(comparison.differences)},
          {"not_ranked", textOrNull(comparison.notRanked)},
          {"time_unavailable", textOrNull(comparison.timeUnavailable)}};
}

Result<RunComparison> runComparisonFromJson(const Json& json) {
  RunComparison comparison;
  JsonFields fields(json);
  fields.read("a", comparison.a).read("b", comparison.b);
  fields.parse("inputs", comparison.inputs, sampleSourceFromJson);
  fields.parseList("groups", comparison.groups, groupFromJson);
  fields.parseList("outputs", comparison.outputs, tensorComparisonFromJson);
  fields.parseList("values", comparison.values, tensorComparisonFromJson);
  fields.parse("values_in_bodies", comparison.valuesInBodies, countFromJson);
  fields.readNumber("a_ms", comparison.aMs).readNumber("b_ms", comparison.bMs).read("turns", comparison.turns);
  fields.parse("ratio_range", comparison.ratioRange, rangeFromJson);
  fields.parseList("differences", comparison.differences, comparedDifferenceFromJson);
  fields.read("not_ranked", comparison.notRanked).read("time_unavailable", comparison.timeUnavailable);
  return fields.result(std::move(comparison));
}

}  // namespace fusescope
