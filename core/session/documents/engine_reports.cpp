#include "session/documents/engine_reports.h"
#include "cache/timing_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/backend.h"
#include "base/json.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/time_alone.h"
#include "planning/body_cover.h"
#include "session/documents/report_json.h"
#include "session/layer_types.h"
#include "target/target.h"
#include "target/target_table.h"

namespace fusescope {
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

/// Returns whether `inputs` have the extents at which the work and bytes of the kernels of `cover` are known.
bool haveUsualExtents(const Cover& cover, const std::map<std::string, Tensor>& inputs) {
  return std::ranges::all_of(cover.inputSpecs, [&](const InputSpec& spec) {
    const auto given = inputs.find(spec.name);
    return given == inputs.end() || given->second.container() != Container::None || given->second.dims() == spec.opt;
  });
}

}  // namespace

Result<TimeReport> timeEngine(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  TimeReport report = TRY(timeAlone(engine, inputs, options));
  if (report.layers.empty() || recordedJobOf(*findCompiler(engine.plan().options.compiler))) return report;
  if (!haveUsualExtents(*report.made, inputs)) {
    report.remark += fmt::format(
        "{}The inputs have other extents than the plan assumes. Work and moved bytes are known only for the assumed "
        "extents, so these times are not compared with the peaks of the machine. Give the extents with --opt.",
        report.remark.empty() ? "" : " ");
    return report;
  }
  const auto peaks = knownPeaks(timingCachePath(), report.threads);
  if (!peaks) return report;
  for (StepTime& layer : report.layers) {
    if (!layer.fused.valid() || !layer.medianMs) continue;
    const FusedNode& fused = report.made->fusedNodes[layer.fused.index];
    layer.rooflineMs = peaks->leastMs(fused.compute, fused.flops, fused.bytes);
  }
  return report;
}

Json machineJson(const MachinePeaks& peaks) {
  Json json{{"format", "fusescope.machine"}, {"version", 1}, {"threads", peaks.threads}};
  for (const auto& [part, text] : findBackend("native")->fingerprint().parts) json["fingerprint"][part] = text;
  const Target target = Target::fromName("cpu").value();
  json["types"] = Json::array();
  for (const TypePeak& peak : peaks.types)
    json["types"].push_back({{"type", name(peak.type)},
                             {"how", arithmeticText(target, peak.type)},
                             {"operations_per_second", optionalNumber(peak.operationsPerSecond)},
                             {"bytes_per_second", optionalNumber(peak.bytesPerSecond)},
                             {"cached_bytes_per_second", optionalNumber(peak.cachedPerSecond)},
                             {"measured", peak.day.empty() ? Json(nullptr) : Json(peak.day)},
                             {"quiet", peak.quiet}});
  return json;
}

Json toJson(const BuildReport& report, const std::vector<BuildPhase>& phases, const std::string& enginePath,
            std::int64_t bytes) {
  Json json = {{"format", "fusescope.build"}, {"version", 1}};
  json["engine"] = enginePath.empty() ? Json(nullptr) : Json(enginePath);
  json["phases"] = Json::array();
  for (const auto& phase : phases) json["phases"].push_back({{"name", phase.name}, {"ms", jsonNumber(phase.ms)}});
  json["seconds"] = jsonNumber(totalMs(phases) / 1000);
  json["regions"] = report.regions;
  json["distinct"] = report.distinct;
  json["compiled"] = report.compiled;
  json["measured"] = report.measured;
  json["taken_over"] = report.takenOver;
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
                               {"taken_over", choice.takenOver},
                               {"candidates", std::move(candidates)}});
  }
  json["measuring"] = report.measuring.wasNeeded ? measuringJson(report.measuring) : Json(nullptr);
  json["bytes"] = bytes;
  json["arena_bytes"] = report.arenaBytes;
  json["weight_bytes"] = report.weightBytes ? Json(*report.weightBytes) : Json(nullptr);
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

/// `cover` contains the layer's fused node. `calls` is the number of calls of the body that contains the layer; nullopt
/// outside of bodies.
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

}  // namespace fusescope
