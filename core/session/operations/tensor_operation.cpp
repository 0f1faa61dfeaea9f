#include "session/operations/tensor_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> TensorSettings::options() {
  return {{.name = "NAME",
           .value = &name,
           .argument = "VALUE",
           .help = "A value of the network, or HOLDER/NAME of a constant in a body.",
           .isRequired = true},
          {.name = "sample",
           .value = &sample,
           .argument = "K",
           .help = "The index of the sample among the inputs; the first one has the index 0.",
           .range = kZeroOrMore},
          {.name = "slice",
           .value = &slice,
           .argument = "0,:,:",
           .help = "Print numbers: an index or ':' for each axis, ':' for two at the most."},
          {.name = "npy",
           .value = &npy,
           .argument = "FILE.npy",
           .help = "Write the tensor to this file; of the output of a node, as the plan calculates it."},
          {.name = "npy-f32",
           .value = &npyF32,
           .argument = "FILE.npy",
           .help = "Write the tensor as the network in float32 calculates it."},
          {.name = "npz",
           .value = &npz,
           .argument = "FILE.npz",
           .help = "Write both, as far as they exist, under the names exact and planned."}};
}

const Operation& tensorOperation() {
  static const Operation operation{
      .name = "tensor",
      .summary = "Show one weight, input or value of a network: its numbers, and what types do to it",
      .source = {"MODEL|E.fse|PLAN", "A model, a saved plan or an engine."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<TensorSettings>,
      .prints = "fusescope.tensor",
      .writes = "--npy, --npy-f32, --npz: the tensor"};
  return operation;
}

}  // namespace fusescope
