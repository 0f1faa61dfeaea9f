#include "session/operations/import_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ImportSettings::options() {
  return {
      {.name = "MODEL",
       .value = &program,
       .argument = "MODEL.pt2|SCRIPT.py:FUNCTION|MODEL.pt",
       .help = "An exported program of PyTorch; a function without arguments of a Python script, which returns "
               "(module, args[, kwargs[, dynamic_shapes]]); or a TorchScript file.",
       .isRequired = true},
      {.name = "env",
       .value = &environment,
       .argument = "NAME|COMMAND",
       .help = "The environment whose torch is used: a name that compilers lists, or the command that starts its "
               "Python. Without this option it is the first that has torch."},
      {.name = "dim",
       .value = &names,
       .argument = "SYMBOL=NAME",
       .help = "The name of an open extent; the program itself has only symbols."},
      {.name = "output",
       .value = &into,
       .argument = "NET.pt2",
       .help = "Of a script or TorchScript, the exported program to write. Without this option it is NET.FUNCTION.pt2 "
               "or MODEL.pt2 beside the file. Of TorchScript, NET.onnx asks for torch.onnx.export(dynamo=False).",
       .letter = 'o'},
      {.name = "overwrite", .value = &overwrites, .help = "Replace a file of that name."},
      {.name = "run-code",
       .value = &isConfirmed,
       .help = "Run the script or the TorchScript file without asking. Without a terminal to ask on, this option is "
               "required."},
      {.name = "breaks",
       .value = &breaks,
       .help = "Of a script, also list where TorchDynamo leaves the graph and what it compiles again. If the export "
               "fails, they are listed in any case."},
      {.name = "input",
       .value = &scriptInputs,
       .argument = "NAME=DIMS[:TYPE]",
       .help = "Of TorchScript, the extents and the type of an argument of forward(), f32 by default. The file does "
               "not contain them."}};
}

const Operation& importOperation() {
  static const Operation operation{
      .name = "import",
      .summary =
          "Have torch make an exported program (.pt2) runnable: its ONNX network is kept, and opens in its place. Of a "
          "function of a script, or of TorchScript, torch makes the program first",
      .groups = {OptionGroup::Json},
      .usualOptions = copyOfUsualOptions<ImportSettings>,
      .prints = "fusescope.import",
      .doesNotHold = "torch makes no program of the code",
      .writes = "--output: the exported program, of code"};
  return operation;
}

}  // namespace fusescope
