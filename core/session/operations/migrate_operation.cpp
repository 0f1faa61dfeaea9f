#include "session/operations/migrate_operation.h"

#include "session/operations/export_operation.h"
#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> MigrateSettings::options() {
  std::vector<Option> options{
      {.name = "RECIPE",
       .value = &recipe,
       .argument = "RECIPE",
       .help = "A command line of trtexec or Polygraphy, in a file or as text; a network script, a tactic replay, "
               "a calibration cache, or what export wrote.",
       .isRequired = true},
      {.name = "MODEL",
       .value = &model,
       .argument = "MODEL.onnx",
       .help = "The model that the recipe is for.",
       .isRequired = true,
       .isPath = true},
      {.name = "output",
       .value = &output,
       .argument = "NEW.onnx",
       .help = "The network to write.",
       .letter = 'o',
       .isRequired = true},
      {.name = "layer-names",
       .value = &layerNames,
       .argument = "VERBOSE_LOG",
       .help = "A log of trtexec --verbose, for the node of each layer.",
       .isPath = true},
      {.name = "tol-rms",
       .value = &rms,
       .argument = "T",
       .help = "With --inputs: no output may differ from float32 by more than max|Δ| of T · rms. Without this "
               "option T is 1e-2.",
       .range = kZeroOrMore}};
  addExporterOptions({findExporter("onnx")}, own, options);
  return options;
}

const Operation& migrateOperation() {
  static const Operation operation{.name = "migrate",
                                   .summary = "Write an old recipe of TensorRT into the network, for TensorRT 11",
                                   .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Plan},
                                   .usualOptions = copyOfUsualOptions<MigrateSettings>,
                                   .prints = "fusescope.migration",
                                   .doesNotHold = "the check fails, or a pin that must be obeyed is refused",
                                   .writes = "--output: the network"};
  return operation;
}

}  // namespace fusescope
