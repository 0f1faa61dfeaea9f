#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "base/files.h"
#include "base/text.h"
#include "interchange/exports.h"
#include "session/export_wishes.h"
#include "session/verdict.h"

namespace fusescope::cli {
namespace {

struct Arguments {
  std::string path, format, output, trtVersion, layerNames, weights = "convert", borders = "keep";
  std::optional<double> rms;
  bool json = false;
  PlanArguments plan;
  InputArguments inputs;
};

std::vector<std::string> formatNames() {
  std::vector<std::string> names;
  for (const auto& exporter : exporters()) names.emplace_back(exporter.name);
  return names;
}

/// The file, or its text on standard output, and what was written.
Status deliver(const Arguments& arguments, const Exporter& exporter, const Exported& file) {
  const ExportWishes wishes{.format = std::string(exporter.name), .path = arguments.output};
  if (arguments.output.empty()) {
    if (!arguments.json) {
      std::cout << file.text;
      return Done{};
    }
    Json json = exportJson(wishes, file);
    json.update({{"path", nullptr}, {"bytes", file.text.size()}, {"text", file.text}});
    printJson(json);
    return Done{};
  }
  TRY(file.save ? file.save(arguments.output) : writeFileAtomically(arguments.output, file.text));
  if (arguments.json) {
    printJson(exportJson(wishes, file));
  } else {
    std::cout << fmt::format("{}: {}\n", arguments.output, file.summary.empty() ? exporter.summary : file.summary);
    if (file.numbers) std::cout << inWords(*file.numbers) << "\n";
  }
  return Done{};
}

Diagnostic badWord(const char* option, const std::string& word, const char* words) {
  return {.message = fmt::format("'{}' is not one of {}", word, words), .where = {.attribute = option}};
}

Result<ExportOptions> exportOptions(const Arguments& arguments, const Exporter& exporter, const Artifact& artifact) {
  ExportOptions options{.trtVersion = arguments.trtVersion, .layerNames = {}, .path = arguments.output};
  if (!arguments.layerNames.empty()) options.layerNames = TRY(readTextFile(arguments.layerNames));
  if (arguments.weights != "convert" && arguments.weights != "keep")
    return badWord("--weights", arguments.weights, "convert and keep");
  if (arguments.borders != "keep" && arguments.borders != "plan")
    return badWord("--io", arguments.borders, "keep and plan");
  options.weights = arguments.weights == "keep" ? WeightTypes::Keep : WeightTypes::Convert;
  options.borders = arguments.borders == "plan" ? BorderTypes::Plan : BorderTypes::Keep;
  options.tolerance = arguments.rms ? Tolerance{.rms = arguments.rms} : toleranceOf(artifact);
  if (!exporter.takesSamples) {
    if (arguments.inputs.paths.empty()) return options;
    return Diagnostic{.message = fmt::format("--to {} is not run: it takes no inputs", exporter.name),
                      .where = {.attribute = "--inputs"}};
  }
  if (arguments.inputs.source(artifact).empty()) return options;
  const Samples samples = TRY(arguments.inputs.samples(artifact));
  options.samples = samples.inputs();
  options.sampleNames = samples.names();
  if (const auto inputs = notFiniteInputs(samples); !inputs.empty())
    std::cerr << fmt::format("fusescope: warning: {}\n", inWords(inputs));
  return options;
}

Result<int> exportPlan(const Arguments& arguments) {
  const auto* exporter = findExporter(arguments.format);
  if (exporter == nullptr) {
    return Diagnostic{.message = fmt::format("'{}' is not a format that can be written", arguments.format),
                      .where = {.attribute = "--to"},
                      .help = fmt::format("Formats are {}.", joined(formatNames()))};
  }
  const auto artifact = TRY(open(arguments.path, arguments.plan));
  if (!arguments.output.empty())
    TRY(checkOutput(arguments.output, "--output", artifact, arguments.inputs.source(artifact)));
  auto exported = exporter->write(*artifact.plan, TRY(exportOptions(arguments, *exporter, artifact)));
  const auto located = [&](Diagnostic error) {
    if (error.where.file.empty()) error.where.file = arguments.path;
    return error;
  };
  if (!exported.ok()) {
    reportObeyRefusals(*artifact.plan);
    return located(std::move(exported).error());
  }
  const Exported& file = exported.value();
  if (file.doesNotHold) {
    std::cerr << fmt::format("fusescope: {}\n", located(*file.doesNotHold).text());
    return kDoesNotHold;
  }
  for (const ExportNote& note : file.notes) std::cerr << fmt::format("fusescope: warning: {}\n", note.text);
  TRY(deliver(arguments, *exporter, file));
  const bool refused = reportObeyRefusals(*artifact.plan);
  return refused || std::ranges::any_of(file.notes, &ExportNote::obey) ? kDoesNotHold : kDone;
}

}  // namespace

Command exportCommand(CLI::App& app) {
  auto* verb = app.add_subcommand("export", "a plan in the form that a deployment takes, checked before");
  auto arguments = std::make_shared<Arguments>();
  declareModel(*verb, arguments->path, arguments->plan, "a saved plan or a model", "PLAN|MODEL");
  verb->add_option("--to", arguments->format, joined(formatNames()))->required()->type_name("FORMAT");
  verb->add_option("-o,--output", arguments->output, "the file to write; standard output if not given")->type_name("F");
  verb->add_option("--trt-version", arguments->trtVersion, "version of TensorRT the file is for")->type_name("V");
  verb->add_option("--layer-names", arguments->layerNames, "log of trtexec --verbose: names of its layers")
      ->type_name("VERBOSE_LOG");
  verb->add_option("--weights", arguments->weights,
                   "onnx: weights are converted (convert), or kept, with a Cast behind them (keep)")
      ->type_name("convert|keep");
  verb->add_option("--io", arguments->borders,
                   "onnx: inputs and outputs keep the types of the file (keep), or get those of the plan (plan)")
      ->type_name("keep|plan");
  arguments->inputs.declare(*verb);
  verb->add_option(
          "--tol-rms", arguments->rms,
          "onnx: with --inputs, no output may be further from float32 than max|Δ| of T · rms; default: the session's, "
          "else 1e-2")
      ->type_name("T")
      ->check(zeroOrMore());
  verb->add_flag("--json", arguments->json, "say in JSON what was written");
  arguments->plan.declare(*verb);
  return {verb, [arguments] { return exportPlan(*arguments); }};
}

}  // namespace fusescope::cli
