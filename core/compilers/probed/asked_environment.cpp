#include "compilers/probed/asked_environment.h"

#include <algorithm>

#include "compilers/probed/environment_choice.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {
namespace {

/// Returns the compiler in a named environment, which users request as KIND@NAME.
const ProbedCompiler* compilerIn(const ProbedKind& kind, const Environment& environment) {
  return findProbedCompiler(std::string(kind.name()) + "@" + environment.name);
}

Result<AskedCompiler> askedCompiler(const ProbedKind& kind, const FoundEnvironment& found, const StopToken& stop,
                                    const Progress& progress) {
  const ProbedCompiler* compiler = compilerIn(kind, found.environment);
  AskedCompiler asked{
      .compiler = compiler, .name = std::string(kind.name()), .title = std::string(kind.title()), .version = {}};
  const auto there = std::ranges::find(found.compilers, kind.name(), &FoundCompiler::compiler);
  if (there != found.compilers.end()) {
    asked.version = there->version;
    asked.problem = there->problem;
  }
  if (!asked.problem.empty()) return asked;
  TRY(compiler->awaitReady(stop, progress));
  const auto job = compiler->takeJob(stop);
  if (!job.ok()) {
    if (job.error().cancelled) return job.error();
    asked.problem = job.error().text();
    return asked;
  }
  const Json& opened = job.value()->opened();
  asked.version = compiler->identity().version;
  if (const auto devices = opened.find("devices"); devices != opened.end() && devices->is_array())
    asked.devices = *devices;
  const auto first = firstEnvironmentWith(kind.name(), stop);
  asked.isFirst = first.ok() && first.value().command == found.environment.command;
  return asked;
}

Json orNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

}  // namespace

Result<AskedEnvironment> askEnvironment(const Environment& environment, const StopToken& stop,
                                        const Progress& progress) {
  AskedEnvironment asked{.found = TRY(environmentAsFound(environment, stop)), .compilers = {}};
  if (!asked.found.problem.empty()) return asked;
  for (const ProbedKind* kind : allProbedKinds())
    asked.compilers.push_back(TRY(askedCompiler(*kind, asked.found, stop, progress)));
  return asked;
}

Json toJson(const AskedEnvironment& environment) {
  const FoundEnvironment& found = environment.found;
  const auto& memory = found.environment.memoryBytes;
  Json json{{"name", found.environment.name},
            {"command", found.environment.command},
            {"memory_bytes", memory ? Json(*memory) : Json()},
            {"keeps_files", found.environment.keepsFiles},
            {"python", orNull(found.python)},
            {"machine", orNull(found.machine)},
            {"problem", orNull(found.problem)},
            {"compilers", Json::array()}};
  for (const AskedCompiler& asked : environment.compilers) {
    Json entry = asked.problem.empty() ? toJson(*asked.compiler) : Json::object();
    entry.update({{"name", asked.name},
                  {"compiler", asked.compiler->name()},
                  {"version", orNull(asked.version)},
                  {"devices", asked.devices},
                  {"default", asked.isFirst},
                  {"problem", orNull(asked.problem)},
                  {"elsewhere", asked.problem.empty() ? Json() : Json(findProbedKind(asked.name)->elsewhere())}});
    json["compilers"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace fusescope
