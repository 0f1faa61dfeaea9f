#include "session/operations/run_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> RunCommandSettings::options() {
  return {
      {.name = "outputs",
       .value = &outputs,
       .argument = "F.npz",
       .help =
           "Write the outputs and marked values to this file; of several samples, to a folder with a .npz for each."},
      {.name = "expect",
       .value = &expect,
       .argument = "F.npz",
       .help = "Compare the outputs with these; of several samples, with a folder as --outputs writes it.",
       .isPath = true},
      {.name = "tol-rms",
       .value = &rms,
       .argument = "T",
       .help = "The tolerance: max|Δ| <= T · rms(expected). Without this option it is that of the session, else 1e-2 "
               "where something is in f16, bf16 or int8, and 1e-3 where nothing is.",
       .range = kZeroOrMore},
      {.name = "atol",
       .value = &absolute,
       .argument = "A",
       .help = "The absolute part A of the tolerance |Δ| <= A + R · |expected|.",
       .range = kZeroOrMore},
      {.name = "rtol",
       .value = &relative,
       .argument = "R",
       .help = "The relative part R of the tolerance |Δ| <= A + R · |expected|.",
       .range = kZeroOrMore},
      {.name = "mark", .value = &mark, .argument = "VALUE|all", .help = "Keep an inner value, or all of them."}};
}

const Operation& runOperation() {
  static const Operation operation{
      .name = "run",
      .summary = "Calculate the outputs of a network, and compare them with expected ones if these are given",
      .source = {"MODEL|E.fse", "A model, a saved plan or an engine."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine, OptionGroup::ShapeCache,
                 OptionGroup::Steps, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<RunCommandSettings>,
      .prints = "fusescope.run",
      .doesNotHold = "an output is not as expected, or a pin that must be obeyed is refused",
      .writes = "--outputs: the outputs and marked values",
      .phases = {"run", "warm_up", "measure"}};
  return operation;
}

}  // namespace fusescope
