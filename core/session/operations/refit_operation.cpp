#include "session/operations/refit_operation.h"

#include "backends/threads.h"
#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> RefitSettings::options() {
  return {
      {.name = "ENGINE",
       .value = &engineFile,
       .argument = "E.fse",
       .help =
           "The engine. Its options, extents and tactics are used. An engine of another compiler is compiled again.",
       .isRequired = true,
       .isPath = true},
      {.name = "weights",
       .value = &weights,
       .argument = "NEW.onnx",
       .help = "The network that has the new weights; everything else of it must be as in the engine (.onnx, .pt2).",
       .isRequired = true,
       .isPath = true},
      {.name = "output",
       .value = &output,
       .argument = "OUT.fse",
       .help = "The engine file to write. Without this option it is written beside the network, under its name, unless "
               "there is such a file already.",
       .letter = 'o'},
      {.name = "threads",
       .value = &threads,
       .argument = "N",
       .help = "The number of threads that kernels are prepared for; 0: as many as the machine has.",
       .range = {.least = 0, .most = kMostThreads}},
      {.name = "cache",
       .value = &cache,
       .help =
           "For an engine of another compiler: use what earlier commands kept. off neither uses nor keeps anything, "
           "read only uses it, write uses it and keeps more. See the command cache.",
       .choices = {"off", "read", "write"},
       .usual = "write"}};
}

const Operation& refitOperation() {
  static const Operation operation{
      .name = "refit",
      .summary = "Make an engine with other weights: its tactics stay, and nothing is measured",
      .groups = {OptionGroup::Json},
      .usualOptions = copyOfUsualOptions<RefitSettings>,
      .prints = "fusescope.refit",
      .doesNotHold = "the networks differ in more than their weights",
      .writes = "--output: the engine",
      .phases = {"read engine", "write"}};
  return operation;
}

}  // namespace fusescope
