#include "session/operations/compilers_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> CompilersSettings::options() {
  return {{.name = "env",
           .value = &command,
           .argument = "COMMAND",
           .help = "Ask only one environment: its name, or a command that starts Python."},
          {.name = "options",
           .value = &listsOptions,
           .help = "Also list the options of each compiler, which --compiler-option passes to it."}};
}

std::vector<Option> CompilersAddSettings::options() {
  return {
      {.name = "NAME", .value = &name, .argument = "NAME", .help = "The name of the environment.", .isRequired = true},
      {.name = "COMMAND",
       .value = &command,
       .argument = "COMMAND",
       .help = "The command that starts Python: \"ssh gpubox python3\".",
       .isRequired = true},
      {.name = "memory",
       .value = &memoryBytes,
       .argument = "BYTES",
       .help = "The most memory that a process of a compiler may allocate there. 0: no limit.",
       .range = kZeroOrMore,
       .usual = "three quarters of the machine's memory"},
      {.name = "keep-files",
       .value = &keepsFiles,
       .help = "Allow that networks which are sent there are kept there, in a cache of at most 8 GiB, so that each is "
               "sent once. On this machine, networks are not sent."}};
}

std::vector<Option> CompilersRemoveSettings::options() {
  return {
      {.name = "NAME", .value = &name, .argument = "NAME", .help = "The name of the environment.", .isRequired = true}};
}

const Operation& compilersOperation() {
  static const Operation operation{
      .name = "compilers",
      .summary = "List what can compile a network here and elsewhere, and what each can do",
      .groups = {OptionGroup::Json},
      .usualOptions = copyOfUsualOptions<CompilersSettings>,
      .prints = "fusescope.compilers",
      .doesNotHold = "the environment of --env has no compiler",
      .parts = {{.name = "compilers add",
                 .summary = "Add an environment: a name for a command that starts Python",
                 .usualOptions = copyOfUsualOptions<CompilersAddSettings>},
                {.name = "compilers remove",
                 .summary = "Remove an environment that was added",
                 .usualOptions = copyOfUsualOptions<CompilersRemoveSettings>}}};
  return operation;
}

}  // namespace fusescope
