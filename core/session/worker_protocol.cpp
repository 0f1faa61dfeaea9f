#include "session/worker_protocol.h"

#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "planning/plan_json.h"
#include "session/options_json.h"
#include "session/run.h"

namespace fusescope {
namespace {

const std::vector<std::string_view> kOps = {"build",         "run",    "time",   "specialise", "compare",
                                            "measure_error", "errors", "bisect", "value",      "tune",
                                            "calibrate",     "export", "cancel", "shutdown"};
const std::vector<std::string_view> kEvents = {"progress", "done", "error"};

Json sourceJson(const WorkSource& source) {
  Json json = Json::object();
  json["path"] = source.path;
  if (!source.inputs.empty()) json["inputs"] = toJson(source.inputs);
  if (!(source.options == PlanOptions())) json["options"] = toJson(source.options);
  json["backend"] = source.backend;
  return json;
}

Result<WorkSource> sourceFromJson(const Json& json) {
  WorkSource source;
  JsonFields fields(json);
  fields.require("path").read("path", source.path).read("backend", source.backend);
  fields.parse("inputs", source.inputs, inputOverridesFromJson);
  fields.parse("options", source.options, planOptionsFromJson);
  return fields.result(std::move(source));
}

bool hasSource(WorkerOp op) {
  return op != WorkerOp::Cancel && op != WorkerOp::Shutdown;
}

Result<Json> parsedLine(std::string_view line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return Diagnostic{.message = "the line is not a JSON object"};
  return json;
}

}  // namespace

std::string_view name(WorkerOp op) {
  return kOps[static_cast<std::size_t>(op)];
}

Json toJson(const WorkerRequest& request) {
  Json json = Json::object();
  json["id"] = request.id;
  json["op"] = name(request.op);
  if (request.op == WorkerOp::Cancel) json["cancels"] = request.cancels;
  if (!hasSource(request.op)) return json;
  json["source"] = sourceJson(request.source);
  if (request.op == WorkerOp::Compare) json["other"] = sourceJson(request.other);
  json["engine"] = request.enginePath;
  if (request.op == WorkerOp::Build && !request.refitted.empty()) json["refitted"] = request.refitted;
  json["inputs"] = toJson(request.inputs);
  json["outputs_file"] = request.outputsFile;
  json["expect_file"] = request.expectFile;
  if (request.op == WorkerOp::Value) json["value"] = request.value;
  if (request.op == WorkerOp::Value) json["sample"] = request.sample;
  json["tolerance"] = toJson(request.tolerance);
  if (request.op == WorkerOp::Errors) json["against"] = name(request.against);
  if (request.op == WorkerOp::Bisect) json["bisect"] = toJson(request.bisect);
  if (request.op == WorkerOp::Tune) json["tune"] = toJson(request.tune);
  if (request.op == WorkerOp::Tune) json["state_file"] = request.stateFile;
  if (request.op == WorkerOp::Calibrate) json["calibrate"] = toJson(request.calibrate);
  if (request.op == WorkerOp::Export) json["export"] = toJson(request.exported);
  json["seconds"] = request.seconds;
  json["warmup_seconds"] = request.warmupSeconds;
  json["per_layer"] = request.perLayer;
  json["threads"] = request.threads;
  json["measure_tactics"] = request.measureTactics;
  return json;
}

Result<WorkerRequest> workerRequestFromJson(const Json& json) {
  WorkerRequest request;
  JsonFields fields(json);
  fields.read("id", request.id).require("op").readName("op", kOps, request.op);
  fields.read("engine", request.enginePath).read("refitted", request.refitted);
  fields.parse("inputs", request.inputs, sampleSourceFromJson);
  fields.read("outputs_file", request.outputsFile);
  fields.read("expect_file", request.expectFile);
  fields.read("value", request.value).read("sample", request.sample);
  fields.parse("tolerance", request.tolerance, toleranceFromJson);
  fields.readName("against", errorsAgainstNames(), request.against);
  fields.parse("bisect", request.bisect, bisectLimitsFromJson);
  fields.parse("tune", request.tune, tuneWishesFromJson).read("state_file", request.stateFile);
  fields.parse("calibrate", request.calibrate, calibrationSettingsFromJson);
  fields.parse("export", request.exported, exportWishesFromJson);
  fields.read("seconds", request.seconds);
  fields.read("warmup_seconds", request.warmupSeconds);
  fields.read("per_layer", request.perLayer);
  fields.read("threads", request.threads);
  fields.read("measure_tactics", request.measureTactics);
  fields.read("cancels", request.cancels);
  if (hasSource(request.op)) fields.require("source").parse("source", request.source, sourceFromJson);
  if (request.op == WorkerOp::Export) fields.require("export");
  if (request.op == WorkerOp::Value) fields.require("value").require("outputs_file");
  if (request.op == WorkerOp::Compare) fields.require("other").parse("other", request.other, sourceFromJson);
  return fields.result(std::move(request));
}

Json toJson(const WorkerEvent& event) {
  Json json = Json::object();
  json["id"] = event.id;
  json["event"] = kEvents[static_cast<std::size_t>(event.kind)];
  switch (event.kind) {
    case WorkerEventKind::Progress:
      json["phase"] = event.phase;
      json["detail"] = event.detail;
      break;
    case WorkerEventKind::Done:
      json["result"] = event.result;
      break;
    case WorkerEventKind::Error:
      json["diagnostic"] = toJson(event.error);
      break;
  }
  return json;
}

Result<WorkerEvent> workerEventFromJson(const Json& json) {
  WorkerEvent event;
  JsonFields fields(json);
  fields.read("id", event.id).require("event").readName("event", kEvents, event.kind);
  fields.read("phase", event.phase).read("detail", event.detail).read("result", event.result);
  if (json.is_object() && json.contains("diagnostic")) event.error = diagnosticFromJson(json["diagnostic"]);
  return fields.result(std::move(event));
}

Json toJson(const Diagnostic& diagnostic) {
  Json json = Json::object();
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  json["message"] = diagnostic.message;
  add("file", diagnostic.where.file);
  add("node", diagnostic.where.node);
  add("value", diagnostic.where.value);
  add("attribute", diagnostic.where.attribute);
  add("help", diagnostic.help);
  json["cancelled"] = diagnostic.cancelled;
  return json;
}

Diagnostic diagnosticFromJson(const Json& json) {
  Diagnostic diagnostic;
  JsonFields fields(json);
  fields.read("message", diagnostic.message);
  fields.read("file", diagnostic.where.file);
  fields.read("node", diagnostic.where.node);
  fields.read("value", diagnostic.where.value);
  fields.read("attribute", diagnostic.where.attribute);
  fields.read("help", diagnostic.help);
  fields.read("cancelled", diagnostic.cancelled);
  return diagnostic;
}

std::string workerLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<WorkerRequest> parseWorkerRequest(std::string_view line) {
  return workerRequestFromJson(TRY(parsedLine(line)));
}
Result<WorkerEvent> parseWorkerEvent(std::string_view line) {
  return workerEventFromJson(TRY(parsedLine(line)));
}

}  // namespace fusescope
