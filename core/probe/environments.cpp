#include "probe/environments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/shell_quoted.h"
#include "base/text.h"
#include "probe/command_words.h"
#include "probe/environments_file.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> onPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "", ':')) {
    const fs::path file = fs::path(folder) / program;
    std::error_code ignored;
    if (!folder.empty() && fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// Returns whether two programs are the same: the same file in the same folder. The Python of a virtual environment is
/// a link to the Python of another environment, so that comparing files is not enough.
bool areOne(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return a.parent_path() == b.parent_path() && fs::equivalent(a, b, ignored);
}

/// Returns the environments that are found without the user naming one.
std::vector<Environment> environmentsHere() {
  std::vector<Environment> found;
  std::vector<fs::path> programs;
  const auto isKnown = [&](const fs::path& program) {
    return std::ranges::any_of(programs, [&](const fs::path& known) { return areOne(known, program); });
  };
  const char* named = std::getenv("FUSESCOPE_PYTHON");
  if (named != nullptr && *named != '\0') found.push_back({.name = "FUSESCOPE_PYTHON", .command = named});
  const char* active = std::getenv("VIRTUAL_ENV");
  if (active != nullptr && *active != '\0') {
    const fs::path program = fs::path(active) / "bin" / "python";
    if (fs::path(active).is_absolute() && ::access(program.c_str(), X_OK) == 0) {
      found.push_back({.name = "venv", .command = shellQuoted(program.string())});
      programs.push_back(program);
    }
  }
  for (const char* name : {"python3", "python"}) {
    const auto program = onPath(name);
    if (!program || isKnown(*program)) continue;
    found.push_back({.name = name, .command = name});
    programs.push_back(*program);
  }
  return found;
}

}  // namespace

std::vector<Environment> findEnvironments() {
  std::vector<Environment> all = environmentsHere();
  const auto added = userEnvironments();
  if (added.ok()) all.insert(all.end(), added.value().begin(), added.value().end());
  return all;
}

Result<std::vector<Environment>> userEnvironments() {
  return TRY(readEnvironmentsFile()).environments;
}

Status addEnvironment(const Environment& environment) {
  if (environment.name.empty())
    return Diagnostic{.message = "an environment needs a name", .where = {.attribute = "name"}};
  TRY(commandWords(environment.command));
  const std::vector<Environment> here = environmentsHere();
  if (std::ranges::find(here, environment.name, &Environment::name) != here.end())
    return Diagnostic{
        .message = fmt::format("\"{}\" is the name of an environment that is found automatically", environment.name),
        .where = {.attribute = "name"},
        .help = "Choose another name."};
  return changeEnvironmentsFile([&](EnvironmentsFile& file) -> Status {
    std::erase_if(file.environments, [&](const Environment& known) { return known.name == environment.name; });
    file.environments.push_back(environment);
    file.confirm(environment.command);
    return Done{};
  });
}

Status removeEnvironment(std::string_view name) {
  return changeEnvironmentsFile([&](EnvironmentsFile& file) -> Status {
    const auto isIt = [&](const Environment& known) { return known.name == name; };
    if (std::erase_if(file.environments, isIt) > 0) return Done{};
    std::vector<std::string> names;
    for (const Environment& known : file.environments) names.push_back(known.name);
    const auto near = nearestNames(name, names, 1);
    return Diagnostic{.message = fmt::format("no environment \"{}\" was added", name),
                      .where = {.attribute = "name"},
                      .help = near.empty() ? std::string() : fmt::format("Did you mean \"{}\"?", near.front())};
  });
}

bool isConfirmed(std::string_view command) {
  const std::vector<Environment> here = environmentsHere();
  if (std::ranges::find(here, command, &Environment::command) != here.end()) return true;
  const auto file = readEnvironmentsFile();
  return file.ok() && std::ranges::find(file.value().confirmed, command) != file.value().confirmed.end();
}

Status confirm(std::string_view command) {
  TRY(commandWords(command));
  return changeEnvironmentsFile([&](EnvironmentsFile& file) -> Status {
    file.confirm(command);
    return Done{};
  });
}

}  // namespace fusescope
