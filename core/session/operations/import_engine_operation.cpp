#include "session/operations/import_engine_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ImportEngineSettings::options() {
  return {
      {.name = "MODEL",
       .value = &model,
       .argument = "MODEL",
       .help = "The network that the engine was built from. Without it the layers of TensorRT are drawn.",
       .isPath = true},
      {.name = "layers",
       .value = &layers,
       .argument = "F",
       .help = "Layer information: of trtexec --exportLayerInfo or --dumpLayerInfo; or a package that AOTInductor "
               "wrote (.pt2), or one of the files of origins of TorchInductor (.json).",
       .isPath = true},
      {.name = "profile",
       .value = &profile,
       .argument = "F",
       .help = "Times of layers: of trtexec --exportProfile or --dumpProfile.",
       .isPath = true},
      {.name = "times",
       .value = &times,
       .argument = "F",
       .help = "Times of runs: of trtexec --exportTimes.",
       .isPath = true},
      {.name = "log",
       .value = &log,
       .argument = "F",
       .help = "The log of the build: of trtexec --verbose.",
       .isPath = true},
      {.name = "rebuild",
       .value = &rebuilt,
       .argument = "NET.onnx",
       .help = "Write the network as an ONNX file without weights, as far as --log describes it, and nothing else."},
      {.name = "output",
       .value = &output,
       .argument = "FILE",
       .help = "Write the plan as JSON to this file.",
       .letter = 'o'}};
}

const Operation& importEngineOperation() {
  static const Operation operation{.name = "import-engine",
                                   .summary =
                                       "Show what an engine that others built made of a network: from the layer "
                                       "information, profile and logs of TensorRT, or from a package of AOTInductor",
                                   .groups = {OptionGroup::Json, OptionGroup::Plan},
                                   .usualOptions = copyOfUsualOptions<ImportEngineSettings>,
                                   .prints = "fusescope.plan",
                                   .doesNotHold = "no layer can be placed in the network",
                                   .writes = "--output: the plan; --rebuild: the network"};
  return operation;
}

}  // namespace fusescope
