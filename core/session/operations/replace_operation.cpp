#include "session/operations/replace_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ReplaceSettings::options() {
  return {{.name = "RULE",
           .value = &rules,
           .argument = "RULE[@WHERE]",
           .help = "Rules to apply, one after another; RULE@NODES or RULE@VALUE says where."},
          {.name = "list", .value = &list, .help = "Print the rules, and apply none."},
          {.name = "output", .value = &output, .argument = "NEW.onnx", .help = "The network to write.", .letter = 'o'},
          {.name = "tol-rms",
           .value = &rms,
           .argument = "T",
           .help = "No output may differ by more than max|Δ| of T · rms.",
           .range = kZeroOrMore},
          {.name = "time",
           .value = &seconds,
           .argument = "SECONDS",
           .help = "Also time both networks, each for this many seconds.",
           .range = kAboveZero}};
}

const Operation& replaceOperation() {
  static const Operation operation{
      .name = "replace",
      .summary = "Replace nodes of a network by others that calculate the same, and verify it",
      .source = {"MODEL", "A model, a saved plan or an engine."},
      .groups = {OptionGroup::Inputs, OptionGroup::Engine, OptionGroup::Json, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<ReplaceSettings>,
      .prints = "fusescope.replacement, fusescope.rules",
      .doesNotHold = "an output differs too much",
      .writes = "--output: the network"};
  return operation;
}

}  // namespace fusescope
