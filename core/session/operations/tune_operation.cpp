#include "session/operations/tune_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> TuneSettings::options() {
  return {{.name = "max-error",
           .value = &goal.maxError,
           .argument = "E",
           .help = "The largest max|Δ| over rms that the worst output may have, against float32; with --metric, in the "
                   "unit of that. Without this option it is that of the session, else 1e-2.",
           .range = kZeroOrMore},
          {.name = "of",
           .value = &of,
           .argument = "OUTPUT",
           .help = "The output that counts. Without this option all of them count."},
          {.name = "min-speedup",
           .value = &goal.minSpeedup,
           .argument = "S",
           .help = "How much faster than with everything pinned the network must be, by predicted times. Without "
                   "--max-error, the search finds the least error at this speed-up.",
           .range = kAboveZero},
          {.name = "metric",
           .value = &metric,
           .argument = "COMMAND",
           .help = "A command that gets two .npz files, the outputs in float32 and the lowered ones, and prints an "
                   "error: a smaller one is better."},
          {.name = "budget",
           .value = &goal.seconds,
           .argument = "SECONDS",
           .help = "Stop after this many seconds with the best set so far, which is then checked as it is exported.",
           .range = {.least = 0, .most = 1e6, .excludesLeast = true},
           .field = "seconds"},
          {.name = "evaluations",
           .value = &goal.evaluations,
           .argument = "N",
           .help = "Stop after this many evaluations with the best set so far.",
           .range = kZeroOrMore},
          {.name = "seed",
           .value = &goal.seed,
           .argument = "N",
           .help = "The seed of the orders in which pins are removed again.",
           .range = kZeroOrMore},
          {.name = "resume",
           .value = &state,
           .argument = "FILE",
           .help = "Keep evaluations in this file, and continue from those that are there.",
           .isPath = true},
          {.name = "baselines",
           .value = &goal.baselines,
           .help = "Also find what bisection from either end and greedy ranking find. A search that --budget or "
                   "--evaluations ends early continues within a limit of its own that is as large."},
          {.name = "explain", .value = &explain, .help = "Find out for each pin what happens without it."},
          {.name = "output",
           .value = &output,
           .argument = "FILE",
           .help = "The file of directives to write.",
           .letter = 'o',
           .isRequired = true}};
}

const Operation& tuneOperation() {
  static const Operation operation{
      .name = "tune",
      .summary = "Find the few pins that a lowered network needs to be as good as asked",
      .source = {"MODEL", "A model or a saved plan."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<TuneSettings>,
      .prints = "fusescope.tune",
      .doesNotHold = "no set of pins reaches the goal",
      .writes = "--output: the pins; --resume: the evaluations",
      .phases = {"tune", "try", "better"},
      .phasesNote = "try has the nodes that are pinned, better each better set"};
  return operation;
}

}  // namespace fusescope
