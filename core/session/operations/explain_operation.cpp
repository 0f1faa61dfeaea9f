#include "session/operations/explain_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ExplainSettings::options() {
  return {{.name = "NODE", .value = &node, .argument = "NODE", .help = "The name of a node of the model."}};
}

const Operation& explainOperation() {
  static const Operation operation{.name = "explain",
                                   .summary = "Show every decision about one node, and what would change it",
                                   .source = {"MODEL", "A model."},
                                   .groups = {OptionGroup::Json, OptionGroup::Plan},
                                   .usualOptions = copyOfUsualOptions<ExplainSettings>,
                                   .prints = "fusescope.explain",
                                   .doesNotHold = "a pin that must be obeyed is refused"};
  return operation;
}

}  // namespace fusescope
