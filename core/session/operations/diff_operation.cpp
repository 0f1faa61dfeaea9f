#include "session/operations/diff_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> DiffSettings::options() {
  return {
      {.name = "A",
       .value = &a,
       .argument = "A",
       .help = "A model, a saved plan, an engine or a session.",
       .isRequired = true},
      {.name = "B", .value = &b, .argument = "B", .help = "What A is compared with.", .isRequired = true},
      {.name = "plan-a", .value = &planOfA, .argument = "\"OPTIONS\"", .help = "Plan options for A only, in quotes."},
      {.name = "plan-b", .value = &planOfB, .argument = "\"OPTIONS\"", .help = "Plan options for B only, in quotes."},
      {.name = "errors-a",
       .value = &errorsOfA,
       .argument = "F",
       .help = "The errors of the plan of A: a file that errors --json wrote.",
       .isPath = true},
      {.name = "errors-b",
       .value = &errorsOfB,
       .argument = "F",
       .help = "The errors of the plan of B.",
       .isPath = true},
      {.name = "exit-code",
       .value = &exitCode,
       .help = "Exit with status 1 if they differ in more than times and errors."},
      {.name = "all", .value = &all, .help = "List every change, however many are alike."}};
}

const Operation& diffOperation() {
  static const Operation operation{
      .name = "diff",
      .summary = "Show what differs between two plans, engines or networks, and what caused it",
      .groups = {OptionGroup::Json, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<DiffSettings>,
      .prints = "fusescope.diff",
      .doesNotHold = "--exit-code is given and they differ"};
  return operation;
}

}  // namespace fusescope
