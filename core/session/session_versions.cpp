#include "session/session_versions.h"

#include "base/json.h"

#include <string>

namespace fusescope {
namespace {

std::string textOf(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

void runFrom1(Json& run) {
  if (!run.is_object()) return;
  // In older versions, a run without a model belongs to an engine file.
  run["kind"] = textOf(run, "model").empty() ? "engine" : "plan";
  if (!run.contains("evaluation")) return;
  run["evaluations"] = Json::array({run["evaluation"]});
  run.erase("evaluation");
}

/// Converts a comparison of version 1 to a run.
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

/// Converts the single input file of version 2 to a sample source.
void inputsFrom2(Json& holder) {
  if (!holder.is_object() || !holder.contains("inputs") || !holder["inputs"].is_string()) return;
  const std::string path = textOf(holder, "inputs");
  holder["inputs"] = {{"paths", path.empty() ? Json::array() : Json::array({path})}};
}

void from2(Json& json) {
  inputsFrom2(json);
  const bool cut = json.contains("batch_axis") && json.contains("inputs") && json["inputs"].is_object() &&
                   !json["inputs"].value("paths", Json::array()).empty();
  if (cut) json["inputs"]["batch_axis"] = json["batch_axis"];
  json.erase("batch_axis");
  if (!json.contains("runs") || !json["runs"].is_array()) return;
  for (Json& run : json["runs"]) {
    if (!run.is_object()) continue;
    for (const char* part : {"time", "comparison"})
      if (run.contains(part)) inputsFrom2(run[part]);
    if (!run.contains("evaluations") || !run["evaluations"].is_array()) continue;
    for (Json& evaluation : run["evaluations"]) inputsFrom2(evaluation);
  }
}

}  // namespace

Json upToDate(Json json, int version) {
  if (!json.is_object()) return json;
  if (version <= 1) from1(json);
  if (version <= 2) from2(json);
  return json;
}

}  // namespace fusescope
