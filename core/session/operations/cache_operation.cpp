#include "session/operations/cache_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> CacheGcSettings::options() {
  return {{.name = "limit",
           .value = &limit,
           .argument = "BYTES",
           .help = "The most bytes that are kept from now on.",
           .range = kZeroOrMore}};
}

const Operation& cacheOperation() {
  static const Operation operation{
      .name = "cache",
      .summary = "List what other compilers answered before and is kept, ask why it is found or not, and tidy up",
      .parts = {{.name = "cache list",
                 .summary = "List everything that is kept: sizes, ages, how often it was found and what that saved",
                 .groups = {OptionGroup::Json},
                 .prints = "fusescope.cache_list"},
                {.name = "cache why",
                 .summary =
                     "Say whether plan --compiler would find its answers, or which fields differ from the nearest ones",
                 .source = {"MODEL|PLAN", "A model or a saved plan."},
                 .groups = {OptionGroup::Json, OptionGroup::Plan},
                 .prints = "fusescope.cache_why",
                 .doesNotHold = "an answer would not be found"},
                {.name = "cache verify",
                 .summary = "Read everything; what is damaged is deleted, and made again when it is needed",
                 .groups = {OptionGroup::Json},
                 .prints = "fusescope.cache_verify",
                 .doesNotHold = "something was damaged"},
                {.name = "cache gc",
                 .summary = "Remove what is least worth its bytes, down to the limit, and files that nothing refers to",
                 .groups = {OptionGroup::Json},
                 .usualOptions = copyOfUsualOptions<CacheGcSettings>,
                 .prints = "fusescope.cache_gc"},
                {.name = "cache clear",
                 .summary = "Remove everything",
                 .groups = {OptionGroup::Json},
                 .prints = "fusescope.cache_clear"}}};
  return operation;
}

}  // namespace fusescope
