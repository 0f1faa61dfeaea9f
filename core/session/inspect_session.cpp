#include <utility>

#include "planning/plan_options_json.h"
#include "session/documents/report_json.h"
#include "session/inspect.h"
#include "session/options_json.h"
#include "session/runs/run_comparison.h"
#include "session/runs/verdict.h"
#include "session/session_file.h"

namespace fusescope {
namespace {

const char* name(ModelChange change) {
  switch (change) {
    case ModelChange::Same:
      return "same";
    case ModelChange::Changed:
      return "changed";
    case ModelChange::Missing:
      break;
  }
  return "missing";
}

Json evaluationJson(const Evaluation& evaluation) {
  Json json = toJson(verdictOf(evaluation, evaluation.tolerance));
  json["when"] = evaluation.when;
  json["inputs"] = toJson(evaluation.inputs);
  json["tolerance"] = toJson(evaluation.tolerance);
  return json;
}

/// Describes a run and its result, without its single layers, groups and values.
Json runJson(const Run& run, const RunSettings& settings) {
  Json json = {{"id", run.id},
               {"name", run.name},
               {"kind", name(run.kind)},
               {"state", name(run.state)},
               {"started", run.started},
               {"machine", run.machine},
               {"problem", run.problem.empty() ? Json(nullptr) : Json(run.problem)}};
  if (run.comparison) {
    const RunComparison& compared = *std::as_const(run.comparison);
    json["comparison"] = {{"a", compared.a},
                          {"b", compared.b},
                          {"inputs", toJson(compared.inputs)},
                          {"a_ms", optionalNumber(compared.aMs)},
                          {"b_ms", optionalNumber(compared.bMs)},
                          {"turns", compared.turns},
                          {"ratio_range", rangeJson(compared.ratioRange)},
                          {"differences", Json::array()},
                          {"not_ranked", compared.notRanked.empty() ? Json(nullptr) : Json(compared.notRanked)}};
    for (const ComparedDifference& difference : compared.differences)
      json["comparison"]["differences"].push_back(toJson(difference));
    return json;
  }
  json["options"] = toJson(run.options);
  json["backend"] = run.backend;
  json["median_ms"] = run.time ? optionalNumber(run.time->medianMs) : Json(nullptr);
  json["verdict"] = toJson(verdictOf(run, settings));
  json["evaluations"] = Json::array();
  for (const auto& evaluation : run.evaluations) json["evaluations"].push_back(evaluationJson(*evaluation));
  return json;
}

}  // namespace

Json inspectJson(const Session& session) {
  const ModelState state = stateOnDisk(session.model);
  Json json = {{"id", session.id},
               {"model", {{"path", session.model.path}, {"state", name(state.change)}}},
               {"options", toJson(session.options)},
               {"inputs", toJson(session.settings.inputs)},
               {"tolerance", toJson(session.settings.tolerance)},
               {"shown", session.shown},
               {"compared_with", session.comparedWith}};
  json["runs"] = Json::array();
  for (const Run& run : session.runs) json["runs"].push_back(runJson(run, session.settings));
  return {{"format", "fusescope.inspect"}, {"version", 1}, {"session", std::move(json)}};
}

}  // namespace fusescope
