#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/print_advice.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "planning/types/without_lowered_types.h"
#include "session/documents/decisions_about.h"
#include "session/operations/run_operation.h"
#include "session/runs/verdict.h"

namespace fusescope::cli {
namespace {

using RunCommandArguments = ArgumentsOf<RunCommandSettings>;

/// Returns the tolerance: --atol and --rtol replace the default or the session's tolerance, and each of them that is
/// given must be met. If the network calculates in float32 everywhere, as its file or a directive asks, the default is
/// the standard tolerance, which allows for no rounding to narrower types.
Tolerance toleranceOf(const RunCommandSettings& given, const Artifact& artifact) {
  const bool wide =
      withoutLoweredTypes(artifact.plan->options) == artifact.plan->options && !roundsBelowF32(*artifact.plan);
  if (!given.rms && !given.absolute && !given.relative)
    return wide && artifact.session == nullptr ? Tolerance::standard() : fusescope::toleranceOf(artifact);
  Tolerance tolerance{.rms = given.rms};
  if (given.absolute || given.relative) {
    tolerance.absolute = given.absolute.value_or(0);
    tolerance.relative = given.relative.value_or(0);
  }
  return tolerance;
}

void printTensors(std::string_view title, const std::map<std::string, Tensor>& tensors) {
  printTitle(title);
  Table table({{"name"}, {"type"}, {"extents"}, {"min", true}, {"mean", true}, {"max", true}, {"NaN", true}});
  for (const auto& [tensorName, tensor] : tensors) {
    if (tensor.container() != Container::None) {
      table.add({shortened(tensorName, 48), typeOf(tensor).text(), fmt::format("{} elements", tensor.count())});
      continue;
    }
    const auto summary = tensor.type() == DataType::String ? TensorSummary{} : summaryOf(tensor);
    table.add({shortened(tensorName, 48), std::string(name(tensor.type())), toText(tensor.dims()),
               fmt::format("{:.6g}", summary.min), fmt::format("{:.6g}", summary.mean),
               fmt::format("{:.6g}", summary.max), std::to_string(summary.notNumbers)});
  }
  table.print();
}

void printCount(std::string_view what, const ShapeCacheCount& count) {
  std::cout << fmt::format("{}: hits {}, misses {}, room for {}\n", what, count.hits, count.misses, count.size);
}

void printForPeople(const RunReport& report) {
  if (!report.compared) {
    printTensors("Outputs", report.result.outputs);
  } else {
    printTitle("Outputs against what was expected");
    Table table(
        {{"name"}, {"equal enough"}, {"max |Δ|", true}, {"max |Δ| / rms", true}, {"cosine", true}, {"problem"}});
    for (const auto& output : report.comparisons) {
      // "-": was not compared.
      const auto number = [&](std::string text) { return output.problem.empty() ? text : "-"; };
      table.add({output.name, output.ok ? "yes" : "NO", number(fmt::format("{:.4g}", output.maxAbs)),
                 number(fmt::format("{:.4g}", output.maxOverRms)), number(cosineText(output.cosine, 9)),
                 output.problem});
    }
    table.print();
  }
  if (!report.result.marked.empty()) printTensors("Marked values", report.result.marked);
  if (!report.stepMs.empty()) std::cout << stepsText(report.stepMs) << "\n";
  printCount("shape cache", report.shapeCache);
  if (report.dynamicKernels.misses > 0)
    printCount("kernels of nodes whose extents depend on data", report.dynamicKernels);
  if (report.compared) std::cout << (report.ok ? "as expected\n" : "not as expected\n");
}

/// Returns the file of `sample`: `path` itself if there is one sample, otherwise a .npz file in the folder `path`.
std::string fileOf(const std::string& path, const Sample& sample, const Samples& samples) {
  if (path.empty() || samples.list.size() == 1) return path;
  return (std::filesystem::path(path) / (sample.name + ".npz")).string();
}

Status makeFolder(const std::string& path, const Samples& samples) {
  if (path.empty() || samples.list.size() == 1) return Done{};
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Diagnostic{.message = error.message(), .where = {.file = path, .attribute = "--outputs"}};
  return Done{};
}

/// Returns the report itself if there is one sample, otherwise a list of the reports.
Json toJson(const std::vector<RunReport>& reports, const Samples& samples) {
  if (reports.size() == 1) return fusescope::toJson(reports.front());
  Json json = {{"format", "fusescope.run"}, {"version", 1}};
  if (reports.front().compared) json["ok"] = std::ranges::all_of(reports, &RunReport::ok);
  json["runs"] = Json::array();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    Json one = {{"sample", samples.list[i].name}};
    one.update(fusescope::toJson(reports[i]));
    one.erase("format");
    one.erase("version");
    json["runs"].push_back(std::move(one));
  }
  return json;
}

/// If outputs of a network with lowered types are not as expected, prints the advice of `errors`, provided that this is
/// quick.
Status advise(const RunCommandArguments& arguments, const Artifact& artifact, const Samples& samples) {
  if (withoutLoweredTypes(artifact.plan->options) == artifact.plan->options) return Done{};
  if (!quickToTry(*artifact.plan, samples)) {
    std::cout << "fusescope errors finds where the lowered types first cause a wrong result\n";
    return Done{};
  }
  LayerErrorOptions options{.threads = arguments.engine.threads};
  if (!artifact.backend.empty()) options.backend = artifact.backend;
  const auto report = TRY(layerErrors(artifact, samples, options));
  if (report.firstWrong)
    std::cout << fmt::format("the first value that the lowered types make wrong: {}: {}\n", report.firstWrong->tensor,
                             report.firstWrong->why);
  printAdvice(TRY(adviceAbout(report, artifact.plan, samples, options, ErrorsAgainst::F32)));
  return Done{};
}

Result<int> run(const RunCommandArguments& arguments, const Artifact& artifact) {
  const auto samples = TRY(arguments.inputs.samples(artifact));
  TRY(makeFolder(arguments.outputs, samples));
  for (const Sample& sample : samples.list)
    if (const std::string file = fileOf(arguments.outputs, sample, samples); !file.empty())
      TRY(checkOutput(file, "--outputs", artifact, arguments.inputs.source(artifact)));
  auto options = buildOptions(artifact, arguments.engine.threads, {}, progressLine());
  options.measureTactics = false;  // measuring takes longer than one run can save
  options.shapes = extentsOf(samples.first());
  options.shapeCache = arguments.engine.shapeCache;
  const auto engine = TRY(openEngine(artifact, options));
  clearProgressLine();
  if (reportUnobeyedPins(*engine->made())) return kDoesNotHold;
  RunRequest request{
      .tolerance = toleranceOf(arguments, artifact), .mark = arguments.mark, .steps = TRY(arguments.steps.steps())};
  std::vector<RunReport> reports;
  for (const Sample& sample : samples.list) {
    request.outputsFile = fileOf(arguments.outputs, sample, samples);
    request.expectFile = fileOf(arguments.expect, sample, samples);
    reports.push_back(TRY(inSample(runOnce(*engine, sample.inputs, request), sample, samples.list.size())));
    if (arguments.json) continue;
    if (samples.list.size() > 1) std::cout << fmt::format("Sample {}:\n", sample.name);
    printForPeople(reports.back());
  }
  if (arguments.json) {
    Json json = toJson(reports, samples);
    addSamples(json, samples);
    json["decisions"] = saidOfEngineJson(*engine);
    json["memory"] = memoryJson(engine->report());
    printJson(json);
  } else {
    printRemarksAboutEngine(*engine);
    printAboutInputs(samples);
  }
  if (std::ranges::all_of(reports, &RunReport::ok)) return kDone;
  if (!arguments.json) TRY(advise(arguments, artifact, samples));
  return kDoesNotHold;
}

Result<int> run(const RunCommandArguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  TRY(checkAble(artifact, Ability::Run, "run a network"));
  if (reportObeyRefusals(*artifact.plan)) return kDoesNotHold;
  return underAssumedExtents(run(arguments, artifact), *artifact.plan, !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command runCommand(CLI::App& app) {
  return commandOf<RunCommandSettings>(app, runOperation(), run);
}

}  // namespace fusescope::cli
