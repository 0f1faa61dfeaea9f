#include "session/operations/cache_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> CacheGcSettings::options() {
  return {{.name = "limit",
           .value = &limit,
           .argument = "BYTES",
           .help = "The most bytes that are kept from now on, such as 500M or 4GiB. With --shared: the most bytes that "
                   "are left there.",
           .range = kZeroOrMore},
          {.name = "shared",
           .value = &isShared,
           .help = "In the folder that FUSESCOPE_SHARED_STORE names, and not on this machine: entries that nobody used "
                   "for longest go first. Others may use the folder meanwhile.",
           .needs = "limit"}};
}

std::vector<Option> CacheClearSettings::options() {
  return {{.name = "times",
           .value = &withTimes,
           .help = "Also remove the measured times of kernels, which are left otherwise: builds of our own compiler "
                   "must then measure everything again."}};
}

std::vector<Option> CacheExportSettings::options() {
  return {{.name = "output",
           .value = &output,
           .argument = "KEPT.fscache",
           .help = "The file to write. Its entries are signed with the key in the file that FUSESCOPE_SHARED_STORE_KEY "
                   "names, if there is one.",
           .letter = 'o',
           .isRequired = true}};
}

std::vector<Option> CacheImportSettings::options() {
  return {{.name = "FILE",
           .value = &file,
           .argument = "KEPT.fscache",
           .help = "A file that cache export wrote. Without a key it is only read if nobody else can write it.",
           .isRequired = true,
           .isPath = true}};
}

const Operation& cacheOperation() {
  static const Operation operation{
      .name = "cache",
      .summary = "List what is kept of earlier builds, ask why it is found or not, and tidy up",
      .parts = {
          {.name = "cache list",
           .summary = "List everything that is kept: sizes, ages, how often it was found and what that saved; and "
                      "how many times of kernels",
           .groups = {OptionGroup::Json},
           .prints = "fusescope.cache_list"},
          {.name = "cache why",
           .summary =
               "Say whether plan and build would find the answers of another compiler, or the times of the "
               "regions of ours, or else what differs from the nearest ones; the environment of another compiler "
               "is started if it is not known yet, and what it says about itself is kept",
           .source = {"MODEL|PLAN", "A model or a saved plan."},
           .groups = {OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
           .prints = "fusescope.cache_why",
           .doesNotHold = "something would not be found"},
          {.name = "cache verify",
           .summary = "Read everything; what is damaged is deleted, and made again when it is needed",
           .groups = {OptionGroup::Json},
           .prints = "fusescope.cache_verify",
           .doesNotHold = "something was damaged"},
          {.name = "cache gc",
           .summary = "Remove entries that are quicker to make than to load, then the least useful entries and "
                      "times until the limit is met, and files without an entry",
           .groups = {OptionGroup::Json},
           .usualOptions = copyOfUsualOptions<CacheGcSettings>,
           .prints = "fusescope.cache_gc"},
          {.name = "cache export",
           .summary = "Write what is kept and valid on other machines into one file",
           .groups = {OptionGroup::Json},
           .usualOptions = copyOfUsualOptions<CacheExportSettings>,
           .prints = "fusescope.cache_export",
           .writes = "--output: the entries"},
          {.name = "cache import",
           .summary = "Add the entries of such a file",
           .groups = {OptionGroup::Json},
           .usualOptions = copyOfUsualOptions<CacheImportSettings>,
           .prints = "fusescope.cache_import",
           .doesNotHold = "an entry is damaged, is not signed with the key or cannot be kept"},
          {.name = "cache clear",
           .summary = "Remove everything but the measured times of kernels",
           .groups = {OptionGroup::Json},
           .usualOptions = copyOfUsualOptions<CacheClearSettings>,
           .prints = "fusescope.cache_clear"}}};
  return operation;
}

}  // namespace fusescope
