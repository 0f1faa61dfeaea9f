#include "session/reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "base/version.h"
#include "ir/graph.h"
#include "planning/plan_json.h"
#include "planning/plan_totals.h"
#include "planning/read_back/pins_made.h"
#include "planning/read_back/read_back_plan.h"
#include "planning/types/pin_answers.h"
#include "session/diff_input.h"
#include "session/documents/report_json.h"
#include "session/reports/report_times.h"
#include "session/import_engine.h"
#include "session/open_model.h"
#include "session/options_json.h"
#include "session/reports/report_difference.h"
#include "session/runs/verdict.h"
#include "session/session_file.h"

namespace fusescope {

namespace {

std::string allowedTypesText(const PlanOptions& options) {
  std::vector<std::string> names;
  for (const DataType type : options.precisions) names.emplace_back(name(type));
  return names.empty() ? "f32" : joined(names);
}

/// Lists each directive with its answer. For another compiler, these are the answers of the plan that was asked for.
Json directivesJson(const Plan& plan) {
  Json list = Json::array();
  for (const Directive& directive : plan.options.directives) {
    Json answers = Json::array();
    for (std::uint32_t i = 0; i < plan.decisions.size(); ++i)
      if (plan.decisions[i].by == causeOf(directive)) answers.push_back(answerText(plan, i));
    list.push_back({{"text", inWords(directive)}, {"option", optionText(directive)}, {"answers", std::move(answers)}});
  }
  return list;
}

/// Lists what is refused and why: decisions that allow nothing, with equal ones in one entry.
Json refusedJson(const Cover& cover) {
  std::vector<std::pair<std::string, Json>> reasons;
  for (const Decision& decision : cover.decisions) {
    const bool notable = decision.kind == DecisionKind::Validate || decision.kind == DecisionKind::Partition ||
                         decision.kind == DecisionKind::Precision || decision.kind == DecisionKind::Truncate ||
                         decision.kind == DecisionKind::Build;
    if (decision.allowed || !notable) continue;
    const std::string why = message(decision);
    auto entry = std::ranges::find(reasons, why, &std::pair<std::string, Json>::first);
    if (entry == reasons.end()) entry = reasons.insert(entry, {why, Json::array()});
    for (const Subject& subject : decision.subjects) entry->second.push_back(subject.text());
  }
  Json list = Json::array();
  for (auto& [why, nodes] : reasons) list.push_back({{"why", why}, {"nodes", std::move(nodes)}});
  return list;
}

Json conversionsJson(const Cover& cover) {
  Json list = Json::array();
  for (const PlannedCast& cast : cover.casts)
    list.push_back({{"value", cover.graph().value(cast.value).name},
                    {"from", name(cast.from)},
                    {"to", name(cast.to)},
                    {"why", cast.reason},
                    {"bytes", optionalCount(cast.bytes)},
                    {"ms", optionalNumber(cast.predictedMs)},
                    {"how", name(cast.predictedHow)}});
  return list;
}

Json kernelsJson(const ReportSide& side, const ReportTimes& times) {
  const Cover& cover = *side.known.cover;
  std::vector<std::pair<KnownTime, Json>> kernels;
  for (const FusedNode& fused : cover.fusedNodes) {
    const KnownTime time = times.of(fused);
    const RunLayer* layer = times.layer(fused);
    Json kernel = {{"name", fused.name},
                   {"kind", fused.kind},
                   {"type", fused.compute == DataType::Undefined ? Json(nullptr) : Json(name(fused.compute))},
                   {"nodes", originsJson(cover, fused)},
                   {"ms", optionalNumber(time.ms)},
                   {"how", time.how},
                   {"tactic", layer == nullptr || layer->tactic.empty() ? Json(nullptr) : Json(layer->tactic)},
                   {"roofline_ms", layer == nullptr ? Json(nullptr) : optionalNumber(layer->rooflineMs)},
                   {"flops", optionalCount(fused.flops)},
                   {"bytes", optionalCount(fused.bytes)},
                   {"fallback", cover.inFallback(fused)}};
    kernels.emplace_back(time, std::move(kernel));
  }
  std::ranges::stable_sort(kernels, std::ranges::greater(),
                           [](const auto& each) { return each.first.ms.value_or(-1); });
  Json list = Json::array();
  for (auto& [time, kernel] : kernels) list.push_back(std::move(kernel));
  return list;
}

/// Counts the kernels by the type in which they calculate, and sums their times.
Json precisionsJson(const Cover& cover, const ReportTimes& times) {
  std::map<std::string, std::vector<KnownTime>> byType;
  for (const FusedNode& fused : cover.fusedNodes)
    byType[fused.compute == DataType::Undefined ? "" : std::string(name(fused.compute))].push_back(times.of(fused));
  Json list = Json::array();
  for (const auto& [type, each] : byType) {
    Json entry = {{"type", type.empty() ? Json(nullptr) : Json(type)}, {"kernels", each.size()}};
    entry.update(toJson(sumOf(each)));
    list.push_back(std::move(entry));
  }
  return list;
}

Json totalsJson(const Cover& cover) {
  const PlanTotals totals = totalsWithoutBodies(cover);
  const PredictedTime predicted = predictedTime(cover);
  return {{"nodes", cover.model->fileNodes},
          {"fused_nodes", totals.fusedNodes},
          {"segments", cover.segments.size()},
          {"casts", totals.casts},
          {"flops", optionalCount(totals.flops)},
          {"bytes", optionalCount(totals.bytes)},
          {"predicted_ms", optionalNumber(cover.predictedMs)},
          {"predicted_measured_ms", optionalNumber(predicted.measuredMs)},
          {"predicted_fitted_ms", optionalNumber(predicted.fittedMs)},
          {"without_price", predicted.unknown}};
}

Json timeJson(const Run* run) {
  if (run == nullptr || !run->time) return nullptr;
  const RunTime& time = *std::as_const(run->time);
  Json json = latencyJson(time);
  json["inputs"] = isReadFromFiles(*run) ? Json(nullptr) : Json(inWords(time.inputs));  // the files do not say it
  json["unavailable"] = time.unavailableReason.empty() ? Json(nullptr) : Json(time.unavailableReason);
  return json;
}

Json verdictJson(const ReportSide& side) {
  if (side.run == nullptr) return nullptr;
  const Verdict verdict = verdictOf(*side.run, side.settings);
  Json json = toJson(verdict);
  json["words"] = inWords(verdict);
  json["tolerance"] = inWords(side.settings.tolerance);
  const Evaluation* evaluation = evaluationFor(*side.run, side.settings);
  json["inputs"] = evaluation == nullptr ? Json(nullptr) : Json(inWords(evaluation->inputs));
  json["random_inputs"] = evaluation != nullptr && evaluation->inputs.empty();
  json["outputs"] = evaluation == nullptr ? Json::array() : comparisonsJson(evaluation->outputs);
  return json;
}

Json compilerJson(const Cover& cover) {
  const ReadBackPlan* made = asReadBack(cover);
  if (made != nullptr) return {{"name", made->compiler.name}, {"version", made->compiler.version}};
  const bool ours = cover.options.compiler == kOwnCompiler;
  return {{"name", cover.options.compiler}, {"version", ours ? Json(kFusescopeVersion) : Json(nullptr)}};
}

/// Returns everything about a side except its kernels and what concerns single kernels.
Json headJson(const ReportSide& side) {
  const Cover& cover = *side.known.cover;
  const Run* run = side.run;
  const bool ranElsewhere = run != nullptr && isReadFromFiles(*run);
  const std::string backend = ranElsewhere ? std::string() : run != nullptr ? run->backend : side.backend;
  Json phases = Json::array();
  if (run != nullptr && run->build)
    for (const BuildPhase& phase : run->build->phases) phases.push_back({{"name", phase.name}, {"ms", phase.ms}});
  return {{"title", side.title},
          {"model", side.model},
          {"name", run == nullptr ? Json(nullptr) : Json(run->name)},
          {"started", run == nullptr ? Json(nullptr) : Json(run->started)},
          {"machine", run == nullptr ? Json(nullptr) : Json(run->machine)},
          {"backend", backend.empty() ? Json(nullptr) : Json(backend)},
          {"compiler", compilerJson(cover)},
          {"source", name(cover.source)},
          {"target", cover.options.target},
          {"precision", allowedTypesText(cover.options)},
          {"extents", toJson(run == nullptr ? std::vector<InputOverride>() : run->extents)},
          {"inputs", inputSpecsJson(cover.inputSpecs)},
          {"engine_bytes", run != nullptr && run->build ? Json(run->build->bytes) : Json(nullptr)},
          {"phases", std::move(phases)},
          {"verdict", verdictJson(side)},
          {"time", timeJson(run)},
          {"totals", totalsJson(cover)},
          {"directives", directivesJson(requestedPlan(cover))},
          {"pins_made", pinsMadeJson(cover)}};
}

Json documentOf(const char* kind, const std::string& when) {
  return {{"format", "fusescope.report"},
          {"version", 1},
          {"kind", kind},
          {"when", when},
          {"by", "fusescope " + std::string(kFusescopeVersion)}};
}

}  // namespace

Json reportJson(const ReportSide& side, const std::string& when) {
  const Cover& cover = *side.known.cover;
  const ReportTimes times(side);
  Json report = documentOf("run", when);
  report["run"] = headJson(side);
  report["run"]["kernels"] = kernelsJson(side, times);
  report["run"]["precisions"] = precisionsJson(cover, times);
  report["run"]["refused"] = refusedJson(cover);
  report["run"]["conversions"] = conversionsJson(cover);
  return report;
}

Json reportJson(const ReportSide& a, const ReportSide& b, const PlanDiff& diff, const std::string& when) {
  Json report = documentOf("difference", when);
  report["a"] = headJson(a);
  report["b"] = headJson(b);
  report["difference"] = differenceJson(a, b, diff);
  return report;
}

}  // namespace fusescope
