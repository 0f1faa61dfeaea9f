#include "compilers/probed/environment_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/name_hints.h"
#include "base/text.h"

namespace fusescope {
namespace {

struct Known {
  std::mutex mutex;
  std::map<std::string, FoundEnvironment> byCommand;
};

Known& known() {
  static Known all;
  return all;
}

/// Returns an error that says that no environment has the compiler, and what each environment said.
Diagnostic nowhere(std::string_view compiler, const std::vector<std::string>& reasons) {
  return {.message = fmt::format("no environment that was found contains {}{}{}", compiler, reasons.empty() ? "" : ". ",
                                 joined(reasons, ". ")),
          .help =
              "If another Python contains it, add that Python with fusescope compilers add NAME COMMAND, or name it in "
              "FUSESCOPE_PYTHON."};
}

}  // namespace

Result<Environment> environmentNamed(const std::string& nameOrCommand, const std::string& option) {
  const std::vector<Environment> all = findEnvironments();
  for (const Environment& environment : all)
    if (environment.name == nameOrCommand || environment.command == nameOrCommand) return environment;
  if (nameOrCommand.find_first_of(" /") != std::string::npos)
    return Environment{.name = nameOrCommand, .command = nameOrCommand};
  std::vector<std::string> names;
  for (const Environment& environment : all) names.push_back(environment.name);
  return Diagnostic{
      .message = fmt::format("there is no environment '{}'", nameOrCommand),
      .where = {.attribute = option},
      .help = nearestInWords(
          nameOrCommand, names,
          "fusescope compilers lists the environments, and fusescope compilers add NAME COMMAND adds one.")};
}

Result<FoundEnvironment> environmentAsFound(const Environment& environment, const StopToken& stop,
                                            const ProbeOptions& options) {
  {
    const std::scoped_lock lock(known().mutex);
    const auto found = known().byCommand.find(environment.command);
    if (found != known().byCommand.end()) return found->second;
  }
  FoundEnvironment found = TRY(tryEnvironment(environment, stop, options));
  const std::scoped_lock lock(known().mutex);
  return known().byCommand.insert_or_assign(environment.command, std::move(found)).first->second;
}

Result<Environment> firstEnvironmentWith(std::string_view compiler, const StopToken& stop,
                                         const ProbeOptions& options) {
  std::vector<std::string> reasons;
  for (const Environment& environment : findEnvironments()) {
    const FoundEnvironment found = TRY(environmentAsFound(environment, stop, options));
    const auto there = std::ranges::find(found.compilers, compiler, &FoundCompiler::compiler);
    // If the environment itself provides the probe's part for a compiler, nothing is known about the compiler until it
    // is opened.
    const std::string& why = there != found.compilers.end() ? there->problem : found.problem;
    if (why.empty()) return environment;
    reasons.push_back(fmt::format("{}: {}", environment.name, why));
  }
  return nowhere(compiler, reasons);
}

void forgetEnvironments() {
  const std::scoped_lock lock(known().mutex);
  known().byCommand.clear();
}

}  // namespace fusescope
