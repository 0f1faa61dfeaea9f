#include "session/operations/errors_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ErrorsSettings::options() {
  return {
      {.name = "tol-rms",
       .value = &rms,
       .argument = "T",
       .help =
           "A tensor is wrong if max|Δ| is more than T · rms. Without this option T is that of the session, else 1e-2.",
       .range = kZeroOrMore},
      {.name = "against",
       .value = choiceOf(against),
       .help = "Compare with the network in f32, or in f64 by the reference.",
       .choices = {"f32", "f64"}},
      {.name = "bisect",
       .value = &bisect,
       .help = "Find what makes an output wrong: optimisers of the compiler, our fusion rules, or types."},
      {.name = "budget",
       .value = &seconds,
       .argument = "SECONDS",
       .help = "Stop after this many seconds.",
       .range = {.least = 0, .most = 1e6, .excludesLeast = true},
       .needs = "bisect"},
      {.name = "builds",
       .value = &builds,
       .argument = "N",
       .help = "Stop after this many builds.",
       .range = {.least = 0, .most = 1e6, .excludesLeast = true},
       .needs = "bisect"},
      {.name = "all", .value = &all, .help = "Print every tensor, not only the worst."}};
}

const Operation& errorsOperation() {
  static const Operation operation{
      .name = "errors",
      .summary = "Measure the error that lowered types cause in each tensor, locally and carried to later tensors",
      .source = {"MODEL", "A model or a saved plan."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<ErrorsSettings>,
      .prints = "fusescope.errors, fusescope.bisect",
      .doesNotHold = "--bisect does not find what makes the output wrong, or a pin that must be obeyed is refused",
      .phases = {"run", "errors", "bisect"},
      .phasesNote = "bisect, of --bisect, has the number of the build"};
  return operation;
}

}  // namespace fusescope
