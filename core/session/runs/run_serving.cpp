#include "session/runs/run_serving.h"

#include "base/json_fields.h"
#include "session/documents/report_json.h"

namespace fusescope {
namespace {

const std::vector<std::string_view>& stateNames() {
  static const std::vector<std::string_view> names{name(ServingState::Seen), name(ServingState::Building),
                                                   name(ServingState::Trying), name(ServingState::TakenOver),
                                                   name(ServingState::GeneralKept)};
  return names;
}

Json toJson(const RunServed& served) {
  return {{"sample", served.sample},
          {"extents", Json(served.extents)},
          {"state", name(served.state)},
          {"calls", served.calls},
          {"general_ms", optionalNumber(served.generalMs)},
          {"specialised_ms", optionalNumber(served.specialisedMs)},
          {"first_ms", optionalNumber(served.firstMs)},
          {"taken_over_ms", optionalNumber(served.takenOverMs)},
          {"bytes", served.bytes}};
}

Result<std::map<std::string, Dims>> extentsFromJson(const Json& json) {
  std::map<std::string, Dims> extents;
  JsonFields fields(json);
  if (json.is_object())
    for (const auto& [input, dims] : json.items()) fields.read(input.c_str(), extents[input]);
  return fields.result(std::move(extents));
}

Result<RunServed> servedFromJson(const Json& json) {
  RunServed served;
  JsonFields fields(json);
  fields.require("sample").read("sample", served.sample).parse("extents", served.extents, extentsFromJson);
  fields.require("state").readName("state", stateNames(), served.state).read("calls", served.calls);
  fields.readNumber("general_ms", served.generalMs).readNumber("specialised_ms", served.specialisedMs);
  fields.readNumber("first_ms", served.firstMs).readNumber("taken_over_ms", served.takenOverMs);
  fields.read("bytes", served.bytes);
  return fields.result(std::move(served));
}

}  // namespace

Json toJson(const RunServing& serving) {
  Json json{{"when", serving.when}, {"inputs", toJson(serving.inputs)}, {"settled", serving.settled}};
  json["samples"] = Json::array();
  for (const RunServed& served : serving.samples) json["samples"].push_back(toJson(served));
  json["decisions"] = Json::array();
  for (const Decision& decision : serving.decisions) json["decisions"].push_back(toJson(decision));
  return json;
}

Result<RunServing> runServingFromJson(const Json& json) {
  RunServing serving;
  JsonFields fields(json);
  fields.read("when", serving.when).parse("inputs", serving.inputs, sampleSourceFromJson);
  fields.read("settled", serving.settled).require("samples").parseList("samples", serving.samples, servedFromJson);
  fields.parseList("decisions", serving.decisions, decisionFromJson);
  return fields.result(std::move(serving));
}

}  // namespace fusescope
