#include "session/operations/export_operation.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "session/operations/operation.h"

namespace fusescope {

namespace {

std::vector<std::string> exporterNames(const std::vector<const Exporter*>& exporters) {
  std::vector<std::string> names;
  for (const Exporter* exporter : exporters) names.emplace_back(exporter->name);
  return names;
}

/// Returns "Of trtexec and polygraphy: " if other formats do not have the option.
std::string whose(const std::vector<const Exporter*>& exporters, std::string_view option) {
  std::vector<const Exporter*> having;
  for (const Exporter* exporter : exporters)
    if (exporter->option(option) != nullptr) having.push_back(exporter);
  return having.size() == exporters.size() ? std::string() : "Of " + joined(exporterNames(having), ", ") + ": ";
}

}  // namespace

void addExporterOptions(const std::vector<const Exporter*>& exporters, ExporterValues& values,
                        std::vector<Option>& options) {
  std::set<std::string_view> added;
  for (const Exporter* exporter : exporters)
    for (const ExporterOption* own : exporter->options) {
      if (!added.insert(own->name).second) continue;  // another format has the same option
      options.push_back({.name = std::string(own->name),
                         .value = &values[std::string(own->name)],
                         .argument = std::string(own->argument),
                         .help = whose(exporters, own->name) + std::string(own->help),
                         .choices = {own->choices.begin(), own->choices.end()},
                         .usual = own->choices.empty() ? std::string() : std::string(own->choices.front()),
                         .isPath = own->isFile});
    }
}

std::vector<Option> ExportSettings::options() {
  std::vector<Option> options{
      {.name = "to",
       .value = &format,
       .help = "The format.",
       .choices = exporterNames(exporters()),
       .isRequired = true},
      {.name = "output",
       .value = &output,
       .argument = "F",
       .help = "The file to write. Without this option the file is printed on standard output.",
       .letter = 'o'},
      {.name = "check",
       .value = &check,
       .help =
           "Of onnx: before the network is written, compare every output with float32 on each sample: by the "
           "reference with every value between two nodes stored, and by the engine. Casts are added where this "
           "needs them; a network that still fails is not written. With --inputs this is done in any case; without, "
           "the inputs are random."},
      {.name = "tol-rms",
       .value = &rms,
       .argument = "T",
       .help = "Of onnx, with --check or --inputs: no output may differ from float32 by more than max|Δ| of T · rms. "
               "Without this option T is that of the session, else 1e-2.",
       .range = kZeroOrMore}};
  addExporterOptions(exporters(), own, options);
  return options;
}

const Operation& exportOperation() {
  static const Operation operation{
      .name = "export",
      .summary = "Write a plan in a form that another tool reads, after checking it",
      .source = {"PLAN|MODEL", "A saved plan or a model."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<ExportSettings>,
      .prints = "fusescope.export",
      .doesNotHold = "the check fails, or a pin that must be obeyed is refused or cannot be written",
      .writes = "--output: the file",
      .phases = {"export", "export and check", "write"}};
  return operation;
}

}  // namespace fusescope
