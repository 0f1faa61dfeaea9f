#include "session/documents/tune_report.h"

#include <algorithm>
#include <cmath>

#include "compilers/compile_network.h"
#include "ir/graph.h"
#include "session/build_and_run.h"
#include "session/engine_prices.h"
#include "target/target.h"

namespace fusescope {
namespace {

/// Returns the cost as JSON; null for pins that were never evaluated.
Json costJson(const PlanCost* cost) {
  return {{"ms", cost != nullptr && cost->unknown == 0 ? Json(cost->ms) : Json(nullptr)},
          {"how", name(cost != nullptr ? cost->how : PriceSource::Unknown)},
          {"unknown", cost != nullptr ? Json(cost->unknown) : Json(nullptr)},
          {"casts", cost != nullptr ? Json(cost->casts) : Json(nullptr)},
          {"bytes", cost != nullptr && cost->bytes ? Json(*cost->bytes) : Json(nullptr)}};
}

Json chosenJson(const TuneReport& report) {
  Json json = toJson(report.result.chosen);
  json["pins"] = Json::array();
  for (const TunePin& pin : report.pins)
    json["pins"].push_back({{"pattern", pin.directive.pattern},
                            {"type", name(pin.directive.type)},
                            {"why", pin.directive.note},
                            {"error_without", pin.without ? jsonNumber(pin.without->error) : Json(nullptr)}});
  return json;
}

/// Returns a set with a list of its pins.
Json setJson(const TunePoint& point, const Directives& nodes) {
  Json json = toJson(point);
  json["set"] = Json::array();
  for (const std::uint32_t pin : point.pins)
    json["set"].push_back({{"pattern", nodes[pin].pattern}, {"type", name(nodes[pin].type)}});
  return json;
}

Json baselineJson(const TuneBaseline& baseline) {
  Json json = {{"name", baseline.name}, {"pins", nullptr}, {"error", nullptr}};
  if (baseline.found) {
    json["pins"] = baseline.found->pins.size();
    json["error"] = jsonNumber(baseline.found->error);
    json.update(costJson(&baseline.found->cost));
  }
  json["evaluations"] = baseline.evaluations;
  json["end"] = name(baseline.end);
  return json;
}

/// Returns the outputs of the network that the artifact's compiler compiles by `plan`, which is a draft; first by
/// output, then by sample.
Result<std::vector<std::vector<Tensor>>> outputsByCompiler(const Artifact& artifact, const Plan& plan,
                                                           const Samples& samples, const EvaluatorOptions& options) {
  const auto whole = TRY(makePlan(unquantized(plan.model), plan.options, nullptr, options.stop));
  BuildOptions build = buildOptions(artifact, options.threads, options.stop);
  build.shapes = extentsOf(samples.first());
  const auto engine = TRY(compileNetwork(artifact.compiler(), whole, build));
  std::vector<std::vector<Tensor>> outputs(plan.graph().outputs().size());
  for (const Sample& sample : samples.list) {
    RunResult result = TRY(inSample(engine->run(sample.inputs, {}, options.stop), sample, samples.list.size()));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i].push_back(result.outputs.at(plan.graph().value(plan.graph().outputs()[i]).name));
  }
  return outputs;
}

/// If f32 is allowed beside narrower types, prices choose among them. For another compiler no prices are known, so that
/// a plan would have f32. A search begins with the narrower types, and its pins say which nodes stay in f32.
Result<std::shared_ptr<const Plan>> loweredForTuning(const Artifact& artifact, const StopToken& stop) {
  PlanOptions options = artifact.plan->options;
  const auto isExact = [](DataType type) { return type == DataType::F32; };
  if (std::ranges::none_of(options.precisions, isExact) || std::ranges::all_of(options.precisions, isExact))
    return artifact.plan;
  std::erase_if(options.precisions, isExact);
  return makePlan(unquantized(artifact.plan->model), options, nullptr, stop);
}

}  // namespace

Json toJson(const TunePoint& point) {
  const bool evaluated = !std::isnan(point.error);
  Json json = {{"error", evaluated ? jsonNumber(point.error) : Json(nullptr)}};
  json.update(costJson(evaluated ? &point.cost : nullptr));
  json["error_here"] = evaluated ? jsonNumber(point.measured) : Json(nullptr);
  json["error_on_reference"] = point.onReference ? jsonNumber(*point.onReference) : Json(nullptr);
  json["pins"] = point.pins.size();
  return json;
}

std::string tuningBackend(const Artifact& artifact) {
  const Plan& plan = *artifact.plan;
  const bool runsHere =
      std::ranges::all_of(plan.options.precisions, [&](DataType type) { return calculatesIn(plan.target, type); });
  return runsHere ? artifact.backend : "reference";
}

Result<TuneReport> tuneArtifact(const Artifact& artifact, const Samples& samples, const TuneOptions& options) {
  TuneOptions named = options;
  named.evaluator.sampleNames = samples.names();
  if (artifact.isOurs())
    return tune(artifact.plan, samples.inputs(), pricesOf(*artifact.plan, artifact.backend).get(), named);
  named.evaluator.outputsOf = [&](const std::shared_ptr<const Plan>& plan) {
    return outputsByCompiler(artifact, *plan, samples, named.evaluator);
  };
  // Our prices are not valid for another compiler.
  return tune(TRY(loweredForTuning(artifact, named.evaluator.stop)), samples.inputs(), nullptr, named);
}

Json toJson(const TuneReport& report, const Samples& samples, const TuneOptions& options) {
  const TuneResult& result = report.result;
  const auto orNull = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  const auto textOrNull = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json json = {{"format", "fusescope.tune"}, {"version", 2}, {"ok", result.ok}};
  addSamples(json, samples);
  json["backend"] = report.backend;
  json["compiler"] = report.options.compiler;
  json["metric"] = textOrNull(options.evaluator.metric);
  json["of"] = textOrNull(options.evaluator.output);
  json["max_error"] = orNull(options.goal.maxError);
  json["min_speedup"] = orNull(options.goal.minSpeedup);
  json["seed"] = options.goal.seed;
  json["end"] = name(result.end);
  json["minimal"] = result.minimal;
  json["beaten_by_all_pinned"] =
      result.beatenByAllPinned ? setJson(*result.beatenByAllPinned, report.nodes) : Json(nullptr);
  json["unpinned"] = toJson(result.unpinned);
  json["all_pinned"] = toJson(result.allPinned);
  json["front"] = Json::array();
  for (const TunePoint& point : result.front) json["front"].push_back(setJson(point, report.nodes));
  json["chosen"] = chosenJson(report);
  json["baselines"] = Json::array();
  for (const TuneBaseline& baseline : result.baselines) json["baselines"].push_back(baselineJson(baseline));
  json["exported"] = report.exported && report.exported->numbers ? toJson(*report.exported->numbers) : Json(nullptr);
  json["export_refused"] = report.exported ? textOrNull(report.exported->whyNot) : Json(nullptr);
  json["held_to"] = orNull(report.searchLimit);
  json["pinnable"] = report.pinnable;
  json["groups"] = report.groups;
  json["evaluations"] = result.evaluations;
  json["seconds"] = report.seconds;
  return json;
}

}  // namespace fusescope
