#include "session/session_versions.h"

#include <string>

namespace fusescope {
namespace {

std::string textOf(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

void runFrom1(Json& run) {
  if (!run.is_object()) return;
  // A run of no model was one of an engine file.
  run["kind"] = textOf(run, "model").empty() ? "engine" : "plan";
  if (!run.contains("evaluation")) return;
  run["evaluations"] = Json::array({run["evaluation"]});
  run.erase("evaluation");
}

/// A comparison as the run that it is now.
Json runOf1(const Json& comparison, std::int64_t id) {
  const std::string a = textOf(comparison, "a"), b = textOf(comparison, "b");
  Json run = {{"id", std::to_string(id)},
              {"name", "run " + b + " against run " + a},
              {"kind", "comparison"},
              {"state", "ready"},
              {"started", textOf(comparison, "when")},
              {"comparison", comparison.value("report", Json::object())}};
  if (!run["comparison"].is_object()) return run;
  run["comparison"]["a"] = a;
  run["comparison"]["b"] = b;
  return run;
}

void from1(Json& json) {
  if (!json.contains("runs") || !json["runs"].is_array()) return;
  for (Json& run : json["runs"]) runFrom1(run);
  if (!json.contains("comparisons") || !json["comparisons"].is_array()) return;
  const bool counted = json.contains("next_run") && json["next_run"].is_number_integer();
  std::int64_t next = counted ? json["next_run"].get<std::int64_t>() : 1;
  for (const Json& comparison : json["comparisons"])
    if (comparison.is_object()) json["runs"].push_back(runOf1(comparison, next++));
  json["next_run"] = next;
  json.erase("comparisons");
}

}  // namespace

Json upToDate(Json json, int version) {
  if (version == 1 && json.is_object()) from1(json);
  return json;
}

}  // namespace fusescope
