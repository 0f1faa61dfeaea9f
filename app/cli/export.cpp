#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "base/files.h"
#include "base/text.h"
#include "interchange/exports.h"

namespace fusescope::cli {
namespace {

struct Arguments {
  std::string path, format, output, trtVersion, layerNames;
  bool json = false;
  PlanArguments plan;
};

std::vector<std::string> formatNames() {
  std::vector<std::string> names;
  for (const auto& exporter : exporters()) names.emplace_back(exporter.name);
  return names;
}

/// The file, or its text on standard output, and what was written.
Status deliver(const Arguments& arguments, const Exporter& exporter, const ExportedText& file) {
  if (arguments.output.empty()) {
    std::cout << file.text;
    return Done{};
  }
  TRY(writeFileAtomically(arguments.output, file.text));
  if (!arguments.json) {
    std::cout << fmt::format("{}: {}\n", arguments.output, exporter.summary);
    return Done{};
  }
  Json warnings = Json::array();
  for (const ExportNote& note : file.notes) warnings.push_back(note.text);
  printJson({{"format", "fusescope.export"},
             {"version", 1},
             {"to", exporter.name},
             {"path", arguments.output},
             {"bytes", file.text.size()},
             {"warnings", std::move(warnings)}});
  return Done{};
}

Result<int> exportPlan(const Arguments& arguments) {
  const auto* exporter = findExporter(arguments.format);
  if (exporter == nullptr) {
    return Diagnostic{.message = fmt::format("'{}' is not a format that can be written", arguments.format),
                      .where = {.attribute = "--to"},
                      .help = fmt::format("Formats are {}.", joined(formatNames()))};
  }
  const auto artifact = TRY(open(arguments.path, arguments.plan));
  ExportOptions options{.trtVersion = arguments.trtVersion};
  if (!arguments.layerNames.empty()) options.layerNames = TRY(readTextFile(arguments.layerNames));
  auto exported = exporter->write(*artifact.plan, options);
  if (!exported.ok()) {
    reportObeyRefusals(*artifact.plan);
    auto error = std::move(exported).error();
    if (error.where.file.empty()) error.where.file = arguments.path;
    return error;
  }
  const ExportedText& file = exported.value();
  for (const ExportNote& note : file.notes) std::cerr << fmt::format("fusescope: warning: {}\n", note.text);
  TRY(deliver(arguments, *exporter, file));
  const bool refused = reportObeyRefusals(*artifact.plan);
  return refused || std::ranges::any_of(file.notes, &ExportNote::obey) ? kDoesNotHold : kDone;
}

}  // namespace

Command exportCommand(CLI::App& app) {
  auto* verb = app.add_subcommand("export", "layer precisions in the form that a deployment takes, checked before");
  auto arguments = std::make_shared<Arguments>();
  declareModel(*verb, arguments->path, arguments->plan, "a saved plan or a model", "PLAN|MODEL");
  verb->add_option("--to", arguments->format, joined(formatNames()))->required()->type_name("FORMAT");
  verb->add_option("-o,--output", arguments->output, "the file to write; standard output if not given")->type_name("F");
  verb->add_option("--trt-version", arguments->trtVersion, "version of TensorRT the file is for")->type_name("V");
  verb->add_option("--layer-names", arguments->layerNames, "log of trtexec --verbose: names of its layers")
      ->type_name("VERBOSE_LOG");
  verb->add_flag("--json", arguments->json, "say in JSON what was written");
  arguments->plan.declare(*verb);
  return {verb, [arguments] { return exportPlan(*arguments); }};
}

}  // namespace fusescope::cli
