#include "session/worker_protocol.h"

#include <array>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "planning/plan_options_json.h"
#include "session/options_json.h"
#include "session/runs/run.h"

namespace fusescope {
namespace {

/// The names in the order of WorkSettings.
constexpr std::array<std::string_view, 13> kNames = {"build",    "refit",  "run",     "time", "compare",
                                                     "evaluate", "errors", "tensor",  "tune", "calibrate",
                                                     "export",   "cancel", "shutdown"};
static_assert(kNames.size() == std::variant_size_v<WorkSettings>, "each of WorkSettings has a name");
const std::vector<std::string_view> kOperations(kNames.begin(), kNames.end());

const std::vector<std::string_view> kEvents = {"progress", "done", "error"};

Json sourceJson(const WorkSource& source) {
  Json json = Json::object();
  json["path"] = source.path;
  if (!source.inputs.empty()) json["inputs"] = toJson(source.inputs);
  if (!(source.options == PlanOptions())) json["options"] = toJson(source.options);
  json["backend"] = source.backend;
  return json;
}

/// Reads plan options of which all fields may be omitted.
Result<PlanOptions> requestedOptionsFromJson(const Json& json) {
  if (!json.is_object() || json.contains("target")) return planOptionsOfField(json);
  Json whole = json;
  whole["target"] = PlanOptions().target;
  PlanOptions options = TRY(planOptionsOfField(whole));
  options.target = usualTarget(options);
  return options;
}

Result<WorkSource> sourceFromJson(const Json& json) {
  WorkSource source;
  JsonFields fields(json);
  fields.require("path").read("path", source.path).read("backend", source.backend);
  fields.parse("inputs", source.inputs, inputOverridesFromJson);
  fields.parse("options", source.options, requestedOptionsFromJson);
  return fields.result(std::move(source));
}

bool hasSource(const WorkerRequest& request) {
  return !request.is<CancelSettings>() && !request.is<ShutdownSettings>();
}

/// Returns the default settings of the operation with that index.
template <std::size_t Index = 0>
WorkSettings usualSettings(std::size_t index) {
  if constexpr (Index + 1 < std::variant_size_v<WorkSettings>)
    if (index != Index) return usualSettings<Index + 1>(index);
  return std::variant_alternative_t<Index, WorkSettings>();
}

Result<WorkSettings> settingsFrom(const Json& json, const WorkSettings& usual) {
  return std::visit(
      [&](auto settings) -> Result<WorkSettings> {
        return WorkSettings(TRY(settingsFromJson<decltype(settings)>(json)));
      },
      usual);
}

Result<Json> parsedLine(std::string_view line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return Diagnostic{.message = "the line is not a JSON object"};
  return json;
}

}  // namespace

std::string_view operationName(const WorkSettings& settings) {
  return kOperations[settings.index()];
}

Json toJson(const WorkerRequest& request) {
  Json json = Json::object();
  json["id"] = request.id;
  json["op"] = operationName(request.settings);
  json["settings"] = std::visit([](const auto& settings) { return settingsJson(settings); }, request.settings);
  if (!hasSource(request)) return json;
  json["source"] = sourceJson(request.source);
  if (request.is<CompareSettings>()) json["other"] = sourceJson(request.other);
  json["inputs"] = toJson(request.inputs);
  json["tolerance"] = toJson(request.tolerance);
  json["threads"] = request.threads;
  return json;
}

Result<WorkerRequest> workerRequestFromJson(const Json& json) {
  WorkerRequest request;
  JsonFields fields(json);
  std::size_t operation = 0;
  fields.read("id", request.id).require("op").readName("op", kOperations, operation);
  request.settings = usualSettings(operation);
  fields.parse("settings", request.settings,
               [usual = request.settings](const Json& settings) { return settingsFrom(settings, usual); });
  fields.parse("inputs", request.inputs, sampleSourceFromJson);
  fields.parse("tolerance", request.tolerance, toleranceFromJson);
  fields.read("threads", request.threads);
  if (hasSource(request)) fields.require("source").parse("source", request.source, sourceFromJson);
  if (request.is<CompareSettings>()) fields.require("other").parse("other", request.other, sourceFromJson);
  return fields.result(std::move(request));
}

std::int64_t workerRequestId(std::string_view line) {
  const auto json = parsedLine(line);
  if (!json.ok() || !json.value().contains("id")) return 0;
  const Json& id = json.value()["id"];
  return id.is_number_integer() ? id.get<std::int64_t>() : 0;
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
