#include "session/operations/time_operation.h"

#include "session/operations/operation.h"
#include "session/operations/shared_settings.h"

namespace fusescope {

SpecialiseRequest TimeSettings::specialiseRequest() const {
  return {.mostEngines = static_cast<std::size_t>(mostEngines),
          .mostBytes = mostMebibytes << 20,
          .mostSeconds = settleSeconds};
}

std::vector<Option> TimeSettings::options() {
  return {{.name = "seconds",
           .value = &seconds,
           .argument = "S",
           .help = "Measure for this many seconds.",
           .range = kAboveZero,
           .excludes = {"steps"}},
          {.name = "warmup",
           .value = &warmup,
           .argument = "S",
           .help = "Run for this many seconds before the measurement.",
           .range = kZeroOrMore},
          {.name = "per-layer", .value = &perLayer, .help = "Time each layer too.", .excludes = {"steps"}},
          {.name = "specialise",
           .value = &specialise,
           .help = "Call the network with all samples. For extents that come again, an engine for just these is built "
                   "in the background, and replaces the general engine where it is faster.",
           .excludes = {"steps"}},
          {.name = "most-specialised",
           .value = &mostEngines,
           .argument = "N",
           .help = "The largest number of such engines. The one that was used longest ago is removed first.",
           .range = kAboveZero,
           .needs = "specialise"},
          {.name = "most-specialised-mib",
           .value = &mostMebibytes,
           .argument = "MIB",
           .help = "The memory that they may use beside the general engine.",
           .range = {.least = 1, .most = 1 << 24},
           .needs = "specialise"},
          {.name = "settle-seconds",
           .value = &settleSeconds,
           .argument = "S",
           .help = "Stop after this many seconds, even if it is not yet settled which engine serves.",
           .range = kAboveZero,
           .needs = "specialise"},
          effortOption(effort)};
}

const Operation& timeOperation() {
  static const Operation operation{.name = "time",
                                   .summary = "Measure the latency of a network on this machine",
                                   .source = {"MODEL|E.fse", "A model, a saved plan or an engine."},
                                   .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine,
                                              OptionGroup::ShapeCache, OptionGroup::Steps, OptionGroup::Plan},
                                   .usualOptions = copyOfUsualOptions<TimeSettings>,
                                   .prints = "fusescope.time, fusescope.specialised",
                                   .doesNotHold = "a pin that must be obeyed is refused",
                                   .phases = {"time", "warm_up", "measure", "specialise"}};
  return operation;
}

}  // namespace fusescope
