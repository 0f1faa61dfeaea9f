#include "session/documents/error_report.h"

#include <fmt/format.h>

#include <set>

#include "planning/types/without_lowered_types.h"
#include "session/artifact.h"
#include "session/build_and_run.h"
#include "session/documents/report_json.h"
#include "session/exact_engine.h"
#include "session/inputs/samples.h"
#include "verify/compare_values.h"

namespace fusescope {
namespace {

/// Returns the differences between the results of `lowered` and those of `full`, the same network in float32; for
/// several samples, the largest ones.
Result<ErrorReport> errorsAgainst(Engine& full, Engine& lowered, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop, const Progress& progress) {
  const Graph& graph = full.plan().graph();
  ErrorReport report;
  for (const Sample& sample : samples.list) {
    if (progress) progress("run", fmt::format("{} with the plan's types", sample.name));
    const auto actual = TRY(inSample(lowered.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    if (progress) progress("run", fmt::format("{} in float32", sample.name));
    const auto expected = TRY(inSample(full.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    report.samples.push_back({sample.name, compareAll(actual.outputs, expected.outputs, tolerance)});
    takeWorst(report.outputs, report.samples.back().outputs);
    takeWorst(report.values, compareValues(graph, actual, expected, tolerance));
  }
  std::set<std::string> compared;
  for (const TensorComparison& value : report.values) compared.insert(value.name);
  report.madeOf = valueSourcesIn(graph, compared);
  return report;
}

}  // namespace

Result<ErrorReport> measureErrors(std::shared_ptr<const Plan> plan, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop, const Progress& progress) {
  if (progress) progress("plan", "the same network in float32");
  auto reference = TRY(makePlan(plan->model, withoutLoweredTypes(plan->options), nullptr, stop));
  BuildOptions options{.backend = "reference", .measureTactics = false, .stop = stop, .progress = progress};
  options.shapes = extentsOf(samples.first());
  const auto lowered = TRY(buildEngine(std::move(plan), options));
  const auto full = TRY(buildEngine(std::move(reference), options));
  return errorsAgainst(*full, *lowered, samples, tolerance, stop, progress);
}

Result<ErrorReport> measureErrors(const Artifact& artifact, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop, const Progress& progress) {
  if (artifact.isOurs()) return measureErrors(artifact.plan, samples, tolerance, stop, progress);
  BuildOptions options = buildOptions(artifact, 0, stop, progress);
  options.shapes = extentsOf(samples.first());
  const auto lowered = TRY(openEngine(artifact, options));
  const auto full = TRY(exactEngine(*artifact.plan, options));
  return errorsAgainst(*full, *lowered, samples, tolerance, stop, progress);
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
