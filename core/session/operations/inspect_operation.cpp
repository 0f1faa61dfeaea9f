#include "session/operations/inspect_operation.h"

#include "backends/threads.h"
#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> InspectSettings::options() {
  return {
      {.name = "machine",
       .value = &machine,
       .help = "Describe this machine: its types and instructions, and the fastest product and pass over memory in "
               "each type."},
      {.name = "threads",
       .value = &threads,
       .argument = "N",
       .help = "The number of threads for --machine and --memory. Without this option it is the number of processors.",
       .range = {.least = 0, .most = kMostThreads}},
      {.name = "memory",
       .value = &memory,
       .help = "List what the arena of an engine contains at each step, prepared as it runs here, and the peak.",
       .excludes = {"machine"}},
      {.name = "modules",
       .value = &modules,
       .help = "List the blocks of the network (the modules that its exporter names, or the parts that repeat) with "
               "their kernels, work and times."}};
}

const Operation& inspectOperation() {
  static const Operation operation{
      .name = "inspect",
      .summary = "Show what a model, an engine, a session or this machine is, and what cannot run and why",
      .source = {"MODEL|E.fse|S.fsession", "A model (.onnx, .pt2), an engine (.fse) or a session (.fsession)."},
      .groups = {OptionGroup::Json, OptionGroup::Extents},
      .usualOptions = copyOfUsualOptions<InspectSettings>,
      .prints = "fusescope.inspect, fusescope.modules, fusescope.machine, fusescope.memory"};
  return operation;
}

}  // namespace fusescope
