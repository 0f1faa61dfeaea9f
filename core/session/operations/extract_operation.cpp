#include "session/operations/extract_operation.h"

#include "session/minimal_part.h"
#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ExtractSettings::options() {
  return {
      {.name = "output",
       .value = &output,
       .argument = "PART.onnx",
       .help = "The network to write. The values of its inputs are written beside it.",
       .letter = 'o',
       .isRequired = true},
      {.name = "from", .value = &selection.from, .argument = "VALUE", .help = "A value that the part begins with."},
      {.name = "to", .value = &selection.to, .argument = "VALUE", .help = "A value that the part ends with."},
      {.name = "nodes", .value = &selection.nodes, .argument = "PATTERN", .help = "Nodes of the part."},
      {.name = "segment",
       .value = &selection.segments,
       .argument = "NAME",
       .help = "A segment of the plan, as plan lists it."},
      {.name = "kernel",
       .value = &selection.kernels,
       .argument = "KERNEL|NODE",
       .help = "A kernel of the plan, or of what --compiler made: its name, its identity, or a node that it contains."},
      {.name = "minimal",
       .value = &minimal,
       .help = "Search the smallest part that still shows a difference from the types of the network (by the plan, or "
               "by --compiler), a refusal, or that the two --nodes are unfused.",
       .choices = partShowsNames()},
      {.name = "against",
       .value = &against,
       .argument = "COMPILER",
       .help = "Another compiler that does not show it. What both show is not searched for.",
       .needs = "minimal"},
      {.name = "tol-rms",
       .value = &rms,
       .argument = "T",
       .help = "A difference is more than max|Δ| of T · rms.",
       .range = kZeroOrMore,
       .needs = "minimal"},
      {.name = "budget",
       .value = &seconds,
       .argument = "SECONDS",
       .help = "Stop after this many seconds with the best part so far.",
       .range = kAboveZero,
       .needs = "minimal"},
      {.name = "trials",
       .value = &trials,
       .argument = "N",
       .help = "Stop after this many parts with the best one so far.",
       .range = kAboveZero,
       .needs = "minimal"}};
}

const Operation& extractOperation() {
  static const Operation operation{
      .name = "extract",
      .summary = "Write a part of a network as a network of its own, with the values of its inputs",
      .source = {"MODEL", "A model, a saved plan or an engine."},
      .groups = {OptionGroup::Inputs, OptionGroup::Engine, OptionGroup::Json, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<ExtractSettings>,
      .prints = "fusescope.part",
      .doesNotHold = "--minimal finds nothing to show",
      .writes = "--output: the network, and beside it its values"};
  return operation;
}

}  // namespace fusescope
