#include "session/operations/prices_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> PricesSettings::options() {
  return {{.name = "ENGINE",
           .value = &engines,
           .argument = "F…",
           .help = "Plans that import-engine wrote, of one network."},
          {.name = "types",
           .value = &types,
           .argument = "TYPE[,TYPE…]",
           .help = "The types to list. Without this option they are f32, f16 and those of the engines."},
          {.name = "keep", .value = &keep, .help = "Keep the times: they are the prices of plans from now on."},
          {.name = "kept", .value = &kept, .help = "List the prices that are kept."},
          {.name = "forget",
           .value = &forget,
           .argument = "MODEL",
           .help = "Forget the prices of this network.",
           .isPath = true}};
}

const Operation& pricesOperation() {
  static const Operation operation{.name = "prices",
                                   .summary =
                                       "Show how long the layers of a network take in each type, as measured on "
                                       "engines of it; if kept, these times are the prices of plans for that target",
                                   .groups = {OptionGroup::Json},
                                   .usualOptions = copyOfUsualOptions<PricesSettings>,
                                   .prints = "fusescope.prices, fusescope.kept_prices, fusescope.forgotten_prices",
                                   .doesNotHold = "there are no prices to forget"};
  return operation;
}

}  // namespace fusescope
