#include "session/report_json.h"

#include <algorithm>
#include <numeric>

#include "planning/body_cover.h"
#include "session/artifact.h"
#include "session/compare.h"
#include "session/engine_reports.h"
#include "session/error_report.h"
#include "session/layer_types.h"
#include "session/run_comparison.h"

namespace fusescope {

Json optionalCount(const std::optional<std::int64_t>& count) {
  return count ? Json(*count) : Json(nullptr);
}

Json comparisonsJson(const std::vector<TensorComparison>& comparisons) {
  Json list = Json::array();
  for (const auto& comparison : comparisons) list.push_back(toJson(comparison));
  return list;
}

Json rangeJson(const std::optional<Range>& range) {
  return range ? Json{{"least", range->least}, {"most", range->most}} : Json(nullptr);
}

Json originsJson(const Cover& cover, const FusedNode& fused) {
  Json names = Json::array();
  for (const auto origin : fused.origins) names.push_back(cover.model->origins[origin.index].name);
  return names;
}

Json inputSpecsJson(const std::vector<InputSpec>& specs) {
  Json list = Json::array();
  for (const auto& spec : specs) {
    list.push_back({{"name", spec.name},
                    {"type", name(spec.dtype)},
                    {"min", spec.min},
                    {"opt", spec.opt},
                    {"max", spec.max},
                    {"source", spec.source}});
  }
  return list;
}

void addSteps(Json& json, const std::vector<double>& stepMs) {
  const double sum = std::accumulate(stepMs.begin(), stepMs.end(), 0.0);
  json["mean_ms"] = jsonNumber(sum / static_cast<double>(stepMs.size()));
  json["first_ms"] = jsonNumber(stepMs.front());
  json["last_ms"] = jsonNumber(stepMs.back());
  json["steps_ms"] = Json::array();
  for (const double ms : stepMs) json["steps_ms"].push_back(jsonNumber(ms));
}

Json optionalNumber(const std::optional<double>& number) {
  return number ? jsonNumber(*number) : Json(nullptr);
}

namespace {

Json measuringJson(const MeasuringReport& measuring) {
  return {{"budget_seconds", jsonNumber(measuring.budgetSeconds)},
          {"budget_asked", measuring.isAsked},
          {"spent_seconds", jsonNumber(measuring.spentSeconds)},
          {"noise", jsonNumber(measuring.noise)},
          {"measured", measuring.measured},
          {"known", measuring.known},
          {"left_effort", measuring.effortSpent},
          {"left_noise", measuring.belowNoise},
          {"left_busy", measuring.machineBusy}};
}

}  // namespace

Json toJson(const BuildReport& report, const std::vector<BuildPhase>& phases, const std::string& enginePath,
            std::int64_t bytes) {
  Json json = {{"format", "fusescope.build"}, {"version", 1}};
  json["engine"] = enginePath.empty() ? Json(nullptr) : Json(enginePath);
  json["phases"] = Json::array();
  for (const auto& phase : phases) json["phases"].push_back({{"name", phase.name}, {"ms", jsonNumber(phase.ms)}});
  json["regions"] = report.regions;
  json["distinct"] = report.distinct;
  json["tactics"] = Json::array();
  for (const auto& choice : report.tactics) {
    Json candidates = Json::array();
    for (const auto& candidate : choice.candidates) {
      candidates.push_back({{"name", candidate.name}, {"ms", optionalNumber(candidate.ms)}});
    }
    json["tactics"].push_back({{"fused_node", choice.fusedNode},
                               {"identity", choice.identity.hex()},
                               {"chosen", choice.chosen},
                               {"from_cache", choice.fromCache},
                               {"left", choice.left == LeftUnmeasured::No ? Json(nullptr) : Json(name(choice.left))},
                               {"predicted_ms", optionalNumber(choice.predictedMs)},
                               {"candidates", std::move(candidates)}});
  }
  json["measuring"] = report.measuring.wasNeeded ? measuringJson(report.measuring) : Json(nullptr);
  json["bytes"] = bytes;
  json["arena_bytes"] = report.arenaBytes;
  json["weight_bytes"] = report.weightBytes;
  if (!report.compilerPhases.empty()) {
    json["compiler_phases"] = Json::array();
    for (const CompilerPhase& phase : report.compilerPhases)
      json["compiler_phases"].push_back({{"name", phase.name}, {"ms", jsonNumber(phase.ms)}});
  }
  if (report.compilerPeakBytes > 0) json["compiler_peak_bytes"] = report.compilerPeakBytes;
  json["decisions"] = Json::array();
  for (const auto& decision : report.decisions) json["decisions"].push_back(toJson(decision));
  return json;
}

namespace {

/// `cover`: what has the layer's fused node. `calls`: of the body that it is in; nothing outside of bodies.
Json layerJson(const StepTime& layer, const Cover& cover, std::optional<std::int64_t> calls) {
  const auto* fused = layer.fused.valid() ? &cover.fusedNodes[layer.fused.index] : nullptr;
  Json json = {{"name", layer.name},
               {"origins", fused != nullptr ? originsJson(cover, *fused) : Json::array()},
               {"identity", fused != nullptr ? Json(fused->identity.hex()) : Json(nullptr)},
               {"types", fused != nullptr ? toJson(layerTypes(cover, *fused)) : Json(nullptr)},
               {"median_ms", optionalNumber(layer.medianMs)},
               {"roofline_ms", optionalNumber(layer.rooflineMs)},
               {"tactic", layer.tactic},
               {"flops", fused != nullptr ? optionalCount(fused->flops) : Json(nullptr)},
               {"bytes", fused != nullptr ? optionalCount(fused->bytes) : Json(nullptr)},
               {"device", layer.device.empty() ? Json(nullptr) : Json(layer.device)},
               {"emulated", layer.emulated},
               {"source", name(cover.source)}};
  for (const StepTime& kernel : layer.kernels) json["layers"].push_back(layerJson(kernel, cover, std::nullopt));
  if (calls)
    json["call_ms"] =
        layer.medianMs && *calls > 0 ? jsonNumber(*layer.medianMs / static_cast<double>(*calls)) : Json(nullptr);
  for (const BodyTimes& body : layer.bodies) {
    const Cover* inside = bodyCover(cover, fused->root, body.attribute);
    if (inside == nullptr) continue;
    Json layers = Json::array();
    for (const StepTime& step : body.steps) layers.push_back(layerJson(step, *inside, body.calls));
    json["bodies"].push_back({{"attribute", body.attribute}, {"calls", body.calls}, {"layers", std::move(layers)}});
  }
  return json;
}

}  // namespace

Json toJson(const TimeReport& report) {
  Json json = {{"format", "fusescope.time"}, {"version", 1}};
  json["median_ms"] = optionalNumber(report.medianMs);
  json["min_ms"] = optionalNumber(report.minMs);
  json["p95_ms"] = optionalNumber(report.p95Ms);
  json["p99_ms"] = optionalNumber(report.p99Ms);
  json["throughput"] = optionalNumber(report.throughput);
  json["samples"] = report.samples;
  json["threads"] = report.threads;
  json["by_fewer_threads"] = report.byFewerThreads;
  json["quiet"] = report.quiet;
  if (!report.stepMs.empty()) addSteps(json, report.stepMs);
  json["unavailable_reason"] = report.unavailableReason.empty() ? Json(nullptr) : Json(report.unavailableReason);
  json["remark"] = report.remark.empty() ? Json(nullptr) : Json(report.remark);
  json["layers"] = Json::array();
  for (const auto& layer : report.layers) json["layers"].push_back(layerJson(layer, *report.made, std::nullopt));
  return json;
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
  json["not_ranked"] = report.notRanked.empty() ? Json(nullptr) : Json(report.notRanked);
  json["time_unavailable"] = report.timeUnavailable.empty() ? Json(nullptr) : Json(report.timeUnavailable);
  json["groups_unavailable"] = report.groupsUnavailable.empty() ? Json(nullptr) : Json(report.groupsUnavailable);
  return json;
}

Json toJson(const SampleErrors& errors) {
  return {{"name", errors.name}, {"outputs", comparisonsJson(errors.outputs)}};
}

Json toJson(const ErrorReport& report) {
  Json samples = Json::array();
  for (const SampleErrors& sample : report.samples) samples.push_back(toJson(sample));
  return {{"format", "fusescope.evaluation"},
          {"version", 1},
          {"outputs", comparisonsJson(report.outputs)},
          {"values", comparisonsJson(report.values)},
          {"samples", std::move(samples)},
          {"made_of", report.madeOf}};
}

}  // namespace fusescope
