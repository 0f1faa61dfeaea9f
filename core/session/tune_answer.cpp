#include "session/tune_answer.h"

#include <algorithm>

#include "base/json_fields.h"
#include "planning/plan_options_json.h"
#include "tuning/tune_search.h"

namespace fusescope {
namespace {

/// Reads everything of a point except the number of its pins.
void readPoint(JsonFields& fields, TunedPoint& point) {
  fields.readNumber("error", point.error).readNumber("ms", point.ms);
  fields.readNumber("error_here", point.errorHere).readNumber("error_on_reference", point.errorOnReference);
  fields.read("casts", point.casts).readCount("bytes", point.bytes);
  std::string how;
  fields.read("how", how);
  point.how = priceSourceFromName(how).value_or(PriceSource::Unknown);
}

Result<TunedPin> pinFromJson(const Json& json) {
  TunedPin pin;
  JsonFields fields(json);
  fields.require("pattern").read("pattern", pin.node).read("type", pin.type).read("why", pin.why);
  fields.readNumber("error_without", pin.errorWithout);
  return fields.result(std::move(pin));
}

Result<TunedPoint> pointFromJson(const Json& json) {
  TunedPoint point;
  JsonFields fields(json);
  readPoint(fields, point);
  fields.read("pins", point.pins).parseList("set", point.set, pinFromJson);
  return fields.result(point);
}

/// Returns the error of {output, error, not_finite}.
Result<double> apartFromJson(const Json& json) {
  double error = NAN;
  JsonFields fields(json);
  fields.require("error").readNumber("error", error);
  return fields.result(error);
}

Result<TunedExport> exportedFromJson(const Json& json) {
  TunedExport exported;
  JsonFields fields(json);
  fields.require("reference").parse("reference", exported.onReference, apartFromJson);
  fields.require("engine").parse("engine", exported.onEngine, apartFromJson);
  return fields.result(exported);
}

Result<TunedBaseline> baselineFromJson(const Json& json) {
  TunedBaseline baseline;
  JsonFields fields(json);
  std::string end;
  fields.require("name").read("name", baseline.name).readCount("pins", baseline.pins).read("end", end);
  baseline.finished = end == name(TuneEnd::Finished);
  return fields.result(std::move(baseline));
}

/// The chosen point, with a list of its pins.
struct Chosen {
  TunedPoint point;
  std::vector<TunedPin> pins;
};
Result<Chosen> chosenFromJson(const Json& json) {
  Chosen chosen;
  JsonFields fields(json);
  readPoint(fields, chosen.point);
  fields.parseList("pins", chosen.pins, pinFromJson);
  chosen.point.pins = static_cast<std::int64_t>(chosen.pins.size());
  return fields.result(std::move(chosen));
}

}  // namespace

Result<TuneAnswer> tuneAnswerFromJson(const Json& reply) {
  TuneAnswer answer;
  Chosen chosen;
  JsonFields fields(reply);
  fields.require("ok").read("ok", answer.ok).read("minimal", answer.minimal).read("end", answer.end);
  fields.read("backend", answer.backend).read("random_inputs", answer.randomInputs);
  fields.read("samples", answer.samples).read("evaluations", answer.evaluations).read("pinnable", answer.pinnable);
  fields.readNumber("seconds", answer.seconds);
  fields.parse("unpinned", answer.unpinned, pointFromJson).parse("all_pinned", answer.allPinned, pointFromJson);
  fields.parse("beaten_by_all_pinned", answer.beatenByAllPinned, pointFromJson);
  fields.readNumber("max_error", answer.maxError).readNumber("held_to", answer.searchLimit);
  fields.parse("exported", answer.exported, exportedFromJson).read("export_refused", answer.exportRefused);
  fields.parseList("front", answer.front, pointFromJson);
  fields.parseList("baselines", answer.baselines, baselineFromJson);
  fields.require("chosen").parse("chosen", chosen, chosenFromJson);
  fields.require("options").parse("options", answer.options, planOptionsOfField);
  answer.chosen = chosen.point;
  answer.pins = std::move(chosen.pins);
  return fields.result(std::move(answer));
}

std::int64_t pinsBefore(const PlanOptions& options, std::size_t found) {
  const Directives& all = options.directives;
  return std::count_if(all.begin(), all.end() - static_cast<std::ptrdiff_t>(std::min(found, all.size())), asksForAType);
}

std::optional<TunedTry> tunedTryFromJson(const Json& json) {
  TunedTry tried;
  JsonFields fields(json);
  fields.read("evaluations", tried.evaluations).read("pins", tried.pins).read("nodes", tried.nodes);
  const Result<TunedTry> read = fields.result(std::move(tried));
  return read.ok() ? std::optional(read.value()) : std::nullopt;
}

Result<std::vector<TunedPoint>> tunedPointsFromJson(const Json& json) {
  std::vector<TunedPoint> points;
  JsonFields fields(json);
  fields.require("better").parseList("better", points, pointFromJson);
  return fields.result(std::move(points));
}

}  // namespace fusescope
