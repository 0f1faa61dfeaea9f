#include "session/operations/export_operation.h"

#include "base/text.h"
#include "session/operations/operation.h"

namespace fusescope {

namespace {

std::vector<std::string> exporterNames() {
  std::vector<std::string> names;
  for (const Exporter& exporter : exporters()) names.emplace_back(exporter.name);
  return names;
}

}  // namespace

std::vector<Option> ExportSettings::options() {
  return {
      {.name = "to", .value = &format, .help = "The format.", .choices = exporterNames(), .isRequired = true},
      {.name = "output",
       .value = &output,
       .argument = "F",
       .help = "The file to write. Without this option the file is printed on standard output.",
       .letter = 'o'},
      {.name = "trt-version",
       .value = &trtVersion,
       .argument = "V",
       .help = "The version of TensorRT that the file is for."},
      {.name = "layer-names",
       .value = &layerNames,
       .argument = "VERBOSE_LOG",
       .help = "A log of trtexec --verbose, for the names of its layers.",
       .isPath = true},
      {.name = "weights",
       .value = choiceOf(weights),
       .help = "Of onnx: convert the weights, or keep them, with a Cast behind them.",
       .choices = {"convert", "keep"}},
      {.name = "io",
       .value = choiceOf(borders),
       .help = "Of onnx: inputs and outputs keep the types of the file, or get those of the plan.",
       .choices = {"keep", "plan"}},
      {.name = "check",
       .value = &check,
       .help = "Of onnx: run the network and compare it with float32 before it is written. With --inputs this is done "
               "in any case; without, the inputs are random."},
      {.name = "tol-rms",
       .value = &rms,
       .argument = "T",
       .help = "Of onnx, with --check or --inputs: no output may differ from float32 by more than max|Δ| of T · rms. "
               "Without "
               "this option T is that of the session, else 1e-2.",
       .range = kZeroOrMore}};
}

const Operation& exportOperation() {
  static const Operation operation{
      .name = "export",
      .summary = "Write a plan in the form that a deployment takes, checked before",
      .source = {"PLAN|MODEL", "A saved plan or a model."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<ExportSettings>,
      .prints = "fusescope.export",
      .doesNotHold = "the check fails, or a pin that must be obeyed is refused or cannot be written",
      .writes = "--output: the file"};
  return operation;
}

}  // namespace fusescope
