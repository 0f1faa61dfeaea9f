#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/cli/command.h"
#include "base/files.h"
#include "base/text.h"
#include "interchange/exports.h"
#include "session/documents/export_report.h"
#include "session/operations/export_operation.h"
#include "session/runs/verdict.h"

namespace fusescope::cli {
namespace {

using ExportArguments = ArgumentsOf<ExportSettings>;

/// Writes the exported file, or prints its text on standard output, and reports what was written.
Status deliver(const ExportArguments& arguments, const Exporter& exporter, const Exported& file) {
  const auto json = [&] { return exportJson(arguments.format, arguments.output, file); };
  if (arguments.output.empty()) {
    if (!arguments.json) {
      std::cout << file.text;
      return Done{};
    }
    Json whole = json();
    whole.update({{"path", nullptr}, {"bytes", file.text.size()}, {"text", file.text}});
    printJson(whole);
    return Done{};
  }
  TRY(file.save ? file.save(arguments.output) : writeFileAtomically(arguments.output, file.text));
  if (arguments.json) {
    printJson(json());
  } else {
    std::cout << fmt::format("{}: {}\n", arguments.output, file.summary.empty() ? exporter.summary : file.summary);
    if (file.numbers) std::cout << inWords(*file.numbers) << "\n";
  }
  return Done{};
}

Result<ExportOptions> exportOptions(const ExportArguments& arguments, const Exporter& exporter,
                                    const Artifact& artifact) {
  TRY(checkOptions(exporter, arguments.own));
  ExportOptions options{.path = arguments.output, .own = arguments.own};
  options.tolerance = arguments.rms ? Tolerance{.rms = arguments.rms} : toleranceOf(artifact);
  if (!exporter.takesSamples) {
    if (arguments.inputs.paths.empty() && !arguments.check) return options;
    return Diagnostic{
        .message = fmt::format("the format {} cannot be run, so its numbers cannot be checked", exporter.name),
        .where = {.attribute = arguments.check ? "--check" : "--inputs"},
        .help = "Leave the option out."};
  }
  if (!arguments.check && arguments.inputs.source(artifact).empty()) return options;
  const Samples samples = TRY(arguments.inputs.samples(artifact));
  options.samples = samples.inputs();
  options.sampleNames = samples.names();
  if (const auto inputs = notFiniteInputs(samples); !inputs.empty())
    std::cerr << fmt::format("fusescope: warning: {}\n", inWords(inputs));
  return options;
}

Result<int> exportPlan(const ExportArguments& arguments) {
  const Exporter* exporter = findExporter(arguments.format);  // cannot be null, because --to accepts no other name
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
  if (file.failedCheck) {
    std::cerr << fmt::format("fusescope: {}\n", located(*file.failedCheck).text());
    return kDoesNotHold;
  }
  for (const ExportNote& note : file.notes) std::cerr << fmt::format("fusescope: warning: {}\n", note.text);
  TRY(deliver(arguments, *exporter, file));
  const bool refused = reportObeyRefusals(*artifact.plan);
  return refused || std::ranges::any_of(file.notes, &ExportNote::obey) ? kDoesNotHold : kDone;
}

}  // namespace

Command exportCommand(CLI::App& app) {
  return commandOf<ExportSettings>(app, exportOperation(), exportPlan);
}

}  // namespace fusescope::cli
