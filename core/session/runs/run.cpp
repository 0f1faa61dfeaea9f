#include "session/runs/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/json_fields.h"
#include "base/text.h"
#include "planning/directives/directive_form.h"
#include "planning/plan_options_json.h"
#include "planning/same_plan_options.h"
#include "session/documents/memory_report.h"
#include "session/documents/report_json.h"
#include "session/options_json.h"

namespace fusescope {
namespace {

const std::vector<std::string_view> kStates = {"building", "timing", "evaluating", "comparing",
                                               "ready",    "failed", "cancelled",  "interrupted"};
const std::vector<std::string_view> kKinds = {"plan", "engine", "comparison"};

Result<BuildPhase> phaseFromJson(const Json& json) {
  BuildPhase phase;
  JsonFields fields(json);
  fields.require("name").read("name", phase.name).readNumber("ms", phase.ms);
  return fields.result(std::move(phase));
}

Result<RunLayer> layerFromJson(const Json& json);

Result<RunBody> bodyFromJson(const Json& json) {
  RunBody body;
  JsonFields fields(json);
  fields.require("attribute").read("attribute", body.attribute).read("calls", body.calls);
  fields.parseList("layers", body.layers, layerFromJson);
  return fields.result(std::move(body));
}

Result<RunLayer> layerFromJson(const Json& json) {
  RunLayer layer;
  JsonFields fields(json);
  fields.require("name").read("name", layer.name).read("identity", layer.identity).read("tactic", layer.tactic);
  fields.readNumber("median_ms", layer.medianMs)
      .readNumber("roofline_ms", layer.rooflineMs)
      .read("emulated", layer.emulated);
  fields.readCount("flops", layer.flops).readCount("bytes", layer.bytes);
  fields.parseList("bodies", layer.bodies, bodyFromJson);
  fields.parseList("layers", layer.kernels, layerFromJson);
  if (!fields.error() && json.contains("types")) layer.types = layerTypesFromJson(json["types"]);
  return fields.result(std::move(layer));
}

Json toJson(const RunBuild& build) {
  Json phases = Json::array();
  for (const BuildPhase& phase : build.phases) phases.push_back({{"name", phase.name}, {"ms", jsonNumber(phase.ms)}});
  return {
      {"phases", std::move(phases)}, {"regions", build.regions}, {"distinct", build.distinct}, {"bytes", build.bytes}};
}

Json layersJson(const std::vector<RunLayer>& layers) {
  Json list = Json::array();
  for (const RunLayer& layer : layers) {
    Json json = {{"name", layer.name},
                 {"identity", layer.identity},
                 {"types", layerTypesText(layer.types)},
                 {"tactic", layer.tactic},
                 {"median_ms", optionalNumber(layer.medianMs)},
                 {"roofline_ms", optionalNumber(layer.rooflineMs)},
                 {"flops", layer.flops ? Json(*layer.flops) : Json(nullptr)},
                 {"bytes", layer.bytes ? Json(*layer.bytes) : Json(nullptr)},
                 {"emulated", layer.emulated}};
    for (const RunBody& body : layer.bodies)
      json["bodies"].push_back(
          {{"attribute", body.attribute}, {"calls", body.calls}, {"layers", layersJson(body.layers)}});
    if (!layer.kernels.empty()) json["layers"] = layersJson(layer.kernels);
    list.push_back(std::move(json));
  }
  return list;
}

Json toJson(const RunTime& time) {
  Json json = latencyJson(time);
  json["inputs"] = toJson(time.inputs);
  json["unavailable_reason"] = time.unavailableReason;
  if (!time.remark.empty()) json["remark"] = time.remark;
  json["layers"] = layersJson(time.layers);
  if (time.memory) json["memory"] = toJson(*time.memory);
  return json;
}

Json toJson(const Evaluation& evaluation) {
  Json samples = Json::array();
  for (const SampleErrors& sample : evaluation.samples) samples.push_back(toJson(sample));
  return {{"when", evaluation.when},
          {"inputs", toJson(evaluation.inputs)},
          {"tolerance", toJson(evaluation.tolerance)},
          {"outputs", comparisonsJson(evaluation.outputs)},
          {"values", comparisonsJson(evaluation.values)},
          {"samples", std::move(samples)},
          {"made_of", evaluation.madeOf},
          {"advice", toJson(evaluation.advice)}};
}

Result<SampleErrors> sampleErrorsFromJson(const Json& json) {
  SampleErrors errors;
  JsonFields fields(json);
  fields.require("name").read("name", errors.name).parseList("outputs", errors.outputs, tensorComparisonFromJson);
  return fields.result(std::move(errors));
}

}  // namespace

bool RunLayer::operator==(const RunLayer& other) const {
  const auto fields = [](const RunLayer& layer) {
    return std::tie(layer.name, layer.identity, layer.types, layer.tactic, layer.medianMs, layer.rooflineMs,
                    layer.flops, layer.bytes, layer.emulated, layer.bodies, layer.kernels);
  };
  return fields(*this) == fields(other);
}

std::string_view name(RunState state) {
  return kStates[static_cast<std::size_t>(state)];
}

std::string_view name(RunKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

bool Run::madeFrom(const std::string& modelIdentity, const PlanOptions& planOptions,
                   const std::vector<InputOverride>& planExtents) const {
  return kind == RunKind::Plan && model == modelIdentity && askForSamePlan(options, planOptions) &&
         extents == planExtents;
}

std::string titleOf(const PlanOptions& options) {
  std::vector<std::string> parts, types;
  for (const DataType type : options.precisions) types.emplace_back(name(type));
  if (!types.empty()) parts.push_back(joined(types, ","));
  const auto pins = std::ranges::count_if(options.directives, asksForAType);
  if (pins > 0) parts.push_back(counted(pins, "pin"));
  const auto others = static_cast<std::ptrdiff_t>(options.directives.size()) - pins;
  if (others == 1) {
    parts.push_back(inWords(*std::ranges::find_if_not(options.directives, asksForAType)));
  } else if (others > 1) {
    parts.push_back(fmt::format("{} other directives", others));
  }
  return parts.empty() ? "baseline" : joined(parts, ", ");
}

std::string timestamp() {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

Result<RunBuild> runBuildFromJson(const Json& reply) {
  RunBuild build;
  JsonFields fields(reply);
  fields.parseList("phases", build.phases, phaseFromJson);
  fields.read("regions", build.regions).read("distinct", build.distinct).read("bytes", build.bytes);
  return fields.result(std::move(build));
}

Result<RunTime> runTimeFromJson(const Json& reply) {
  RunTime time;
  JsonFields fields(reply);
  fields.readNumber("median_ms", time.medianMs).readNumber("min_ms", time.minMs);
  fields.readNumber("p95_ms", time.p95Ms).readNumber("p99_ms", time.p99Ms);
  fields.read("samples", time.samples).read("threads", time.threads).read("quiet", time.quiet);
  fields.parse("inputs", time.inputs, sampleSourceFromJson)
      .read("unavailable_reason", time.unavailableReason)
      .read("remark", time.remark)
      .parseList("layers", time.layers, layerFromJson);
  time = TRY(fields.result(std::move(time)));
  if (reply.contains("memory") && reply["memory"].is_object())
    time.memory = SharedOptional<MemoryTimeline>(TRY(memoryTimelineFromJson(reply["memory"])));
  return time;
}

Result<Evaluation> evaluationFromJson(const Json& reply) {
  Evaluation evaluation;
  JsonFields fields(reply);
  fields.read("when", evaluation.when).parse("inputs", evaluation.inputs, sampleSourceFromJson);
  fields.parse("tolerance", evaluation.tolerance, toleranceFromJson);
  fields.parseList("outputs", evaluation.outputs, tensorComparisonFromJson);
  fields.parseList("values", evaluation.values, tensorComparisonFromJson);
  fields.parseList("samples", evaluation.samples, sampleErrorsFromJson).read("made_of", evaluation.madeOf);
  fields.parse("advice", evaluation.advice, adviceFromJson);
  return fields.result(std::move(evaluation));
}

Json toJson(const Tolerance& tolerance) {
  return {{"rms", optionalNumber(tolerance.rms)},
          {"absolute", optionalNumber(tolerance.absolute)},
          {"relative", optionalNumber(tolerance.relative)}};
}

Result<Tolerance> toleranceFromJson(const Json& json) {
  Tolerance tolerance;
  JsonFields fields(json);
  fields.readNumber("rms", tolerance.rms).readNumber("absolute", tolerance.absolute);
  fields.readNumber("relative", tolerance.relative);
  return fields.result(tolerance);
}

Json latencyJson(const RunTime& time) {
  return {{"median_ms", optionalNumber(time.medianMs)},
          {"min_ms", optionalNumber(time.minMs)},
          {"p95_ms", optionalNumber(time.p95Ms)},
          {"p99_ms", optionalNumber(time.p99Ms)},
          {"samples", time.samples},
          {"threads", time.threads},
          {"quiet", time.quiet}};
}

Json toJson(const Run& run) {
  Json json = {{"id", run.id},
               {"name", run.name},
               {"kind", name(run.kind)},
               {"state", name(run.state)},
               {"model", run.model},
               {"options", toJson(run.options)},
               {"extents", toJson(run.extents)},
               {"backend", run.backend},
               {"threads", run.threads},
               {"machine", run.machine},
               {"started", run.started}};
  if (run.build) json["build"] = toJson(*run.build);
  if (run.made) json["made"] = *run.made;
  if (run.time) json["time"] = toJson(*run.time);
  for (const auto& evaluation : run.evaluations) json["evaluations"].push_back(toJson(*evaluation));
  for (const auto& errors : run.errors) json["errors"].push_back(toJson(*errors));
  if (run.serving) json["serving"] = toJson(*run.serving);
  if (run.comparison) json["comparison"] = toJson(*run.comparison);
  if (!run.enginePath.empty()) json["engine"] = run.enginePath;
  if (!run.problem.empty()) json["problem"] = run.problem;
  json["log"] = run.log;
  return json;
}

Result<Run> runFromJson(const Json& json) {
  Run run;
  JsonFields fields(json);
  fields.require("id").read("id", run.id).read("name", run.name).readName("state", kStates, run.state);
  fields.readName("kind", kKinds, run.kind);
  fields.read("model", run.model).parse("options", run.options, planOptionsOfField);
  fields.parse("extents", run.extents, inputOverridesFromJson);
  fields.read("backend", run.backend).read("threads", run.threads);
  fields.read("machine", run.machine).read("started", run.started);
  fields.parse("build", run.build, runBuildFromJson).parse("time", run.time, runTimeFromJson);
  fields.parseList("evaluations", run.evaluations, evaluationFromJson);
  fields.parseList("errors", run.errors, runErrorsFromJson);
  fields.parse("serving", run.serving, runServingFromJson);
  fields.parse("comparison", run.comparison, runComparisonFromJson);
  if (json.is_object() && json.contains("made") && json["made"].is_object()) run.made = json["made"];
  fields.read("engine", run.enginePath).read("problem", run.problem).read("log", run.log);
  return fields.result(std::move(run));
}

}  // namespace fusescope
