#include "session/operations/compare_operation.h"

#include "session/operations/operation.h"
#include "session/operations/shared_settings.h"

namespace fusescope {

std::vector<Option> CompareSettings::options() {
  return {
      {.name = "A",
       .value = &a,
       .argument = "A",
       .help = "An engine, a saved plan, a model, or a session.",
       .isRequired = true},
      {.name = "B",
       .value = &others,
       .argument = "B…",
       .help = "What A is compared with; of a session, its runs by their numbers.",
       .isRequired = true},
      {.name = "seconds",
       .value = &seconds,
       .argument = "S",
       .help = "Measure both together for this many seconds; 0: compare values only.",
       .range = kZeroOrMore},
      {.name = "plan-a", .value = &planOfA, .argument = "\"OPTIONS\"", .help = "Plan options for A only, in quotes."},
      {.name = "plan-b", .value = &planOfB, .argument = "\"OPTIONS\"", .help = "Plan options for B only, in quotes."},
      {.name = "blocks",
       .value = &blocks,
       .help = "Print a row for each module of the network (of the runs of a session)."},
      effortOption(effort)};
}

const Operation& compareOperation() {
  static const Operation operation{
      .name = "compare",
      .summary = "Compare time and error of two engines or plans, or of runs of a session",
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<CompareSettings>,
      .prints = "fusescope.compare, fusescope.matrix",
      .doesNotHold = "a pin that must be obeyed is refused",
      .phases = {"run", "time"}};
  return operation;
}

}  // namespace fusescope
