#include "session/operations/build_operation.h"

#include "session/operations/operation.h"
#include "session/operations/shared_settings.h"

namespace fusescope {

std::vector<Option> BuildSettings::options() {
  return {{.name = "output",
           .value = &output,
           .argument = "E.fse",
           .help = "The engine file to write.",
           .letter = 'o',
           .isRequired = true},
          {.name = "no-measure",
           .value = NegatedFlag{&measuresTactics},
           .help = "Use the first tactic of each kernel instead of timing all of them."},
          {.name = "then",
           .value = &then,
           .argument = "FILE",
           .help = "A file of directives: the network is built once more with it in place of --directives, in the same "
                   "process. Only regions that changed are compiled and measured. Its engine is written beside the "
                   "first, as E-FILE.fse.",
           .isPath = true},
          effortOption(effort, {"no-measure"})};
}

const Operation& buildOperation() {
  static const Operation operation{
      .name = "build",
      .summary = "Make an engine: choose tactics by measuring them, and write them to a file",
      .source = {"MODEL|PLAN", "A model or a saved plan."},
      .groups = {OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<BuildSettings>,
      .prints = "fusescope.build, fusescope.builds",
      .doesNotHold = "a pin that must be obeyed is refused",
      .writes = "--output: the engine; with --then, an engine for each file beside it",
      .phases = {"write"}};
  return operation;
}

}  // namespace fusescope
