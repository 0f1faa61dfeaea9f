#include "session/operations/inputs_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> InputsCommandSettings::options() {
  return {{.name = "set",
           .value = &set,
           .argument = "NAME=EXTENTS[:TYPE]",
           .help = "The extents of an input: each is a number, MIN..OPT..MAX or MIN..MAX, as in x=1..8..32,3,224,224."},
          {.name = "from",
           .value = &from,
           .argument = "FILE",
           .help = "Read the extents from another file: a network, plan, engine or session, a command line of trtexec "
                   "or Polygraphy, or a script that export wrote.",
           .isPath = true},
          {.name = "example",
           .value = &examples,
           .argument = "F.npz",
           .help = "Example inputs that the file is to contain, as --inputs reads them. Run, errors, time and others "
                   "use them if no other inputs are given.",
           .isPath = true},
          {.name = "output",
           .value = &output,
           .argument = "MODEL2",
           .help = "Write the network to this file, with what is known of its inputs.",
           .letter = 'o'}};
}

const Operation& inputsOperation() {
  static const Operation operation{.name = "inputs",
                                   .summary =
                                       "Show what a file says about the inputs of a network, and write it into the "
                                       "file so that it need not be given again",
                                   .source = {.argument = "MODEL|PLAN|E.fse|S.fsession",
                                              .help = "A network (.onnx, .pt2), a plan, an engine or a session.",
                                              .takesSession = false},
                                   .groups = {OptionGroup::Json},
                                   .usualOptions = copyOfUsualOptions<InputsCommandSettings>,
                                   .prints = "fusescope.inputs",
                                   .writes = "--output: the network"};
  return operation;
}

}  // namespace fusescope
