#include "session/operations/plan_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> PlanCommandSettings::options() {
  return {
      {.name = "output",
       .value = &output,
       .argument = "FILE",
       .help = "Write the plan as JSON to this file.",
       .letter = 'o'},
      {.name = "original",
       .value = &original,
       .help =
           "List the nodes of the file, each with the kernels that calculate it, or with what became of it and why."}};
}

const Operation& planOperation() {
  static const Operation operation{
      .name = "plan",
      .summary = "Show what the compiler will do with a model: segments, fusions, types, and why",
      .source = {"MODEL", "A model, or a saved plan or engine to show."},
      .groups = {OptionGroup::Json, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<PlanCommandSettings>,
      .prints = "fusescope.plan, fusescope.file_nodes",
      .doesNotHold = "a pin that must be obeyed is refused",
      .writes = "--output: the plan"};
  return operation;
}

}  // namespace fusescope
