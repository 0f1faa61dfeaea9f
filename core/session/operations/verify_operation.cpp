#include "session/operations/verify_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> VerifySettings::options() {
  return {{.name = "seeds",
           .value = &seeds,
           .argument = "N",
           .help = "The number of random cases of each region, beside edge values.",
           .range = {.least = 0, .most = 1000}},
          {.name = "write",
           .value = &folder,
           .argument = "FOLDER",
           .help = "Write a network and inputs that reproduce a mismatch."}};
}

const Operation& verifyOperation() {
  static const Operation operation{
      .name = "verify",
      .summary = "Check each fused region against its own nodes, by all its tactics",
      .source = {"MODEL|E.fse|PLAN", "A model, a saved plan or an engine."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<VerifySettings>,
      .prints = "fusescope.verify",
      .doesNotHold = "a region does not calculate what its nodes do",
      .writes = "--write: networks and inputs"};
  return operation;
}

}  // namespace fusescope
