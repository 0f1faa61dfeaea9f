#include "probe/found_environment.h"

#include <fmt/format.h>

#include <utility>

#include "probe/frames.h"
#include "probe/listeners.h"

namespace fusescope {
namespace {

std::string missingPackage(const std::string& python, const std::string& package) {
  return fmt::format("This Python has no {0}. Install it there: {1} -m pip install {0}", package, python);
}

std::vector<FoundCompiler> compilersIn(const Json& hello) {
  std::vector<FoundCompiler> found;
  const auto list = hello.find("compilers");
  if (list == hello.end() || !list->is_array()) return found;
  for (const Json& entry : *list) {
    if (!entry.is_object()) continue;
    FoundCompiler compiler{.compiler = textOf(entry, "name"), .version = textOf(entry, "version")};
    const std::string package = textOf(entry, "package");
    compiler.about = {{"package", package}};
    if (std::string path = textOf(entry, "path"); !path.empty()) {
      compiler.about["path"] = std::move(path);
    } else if (std::string why = textOf(entry, "problem"); !why.empty()) {
      compiler.problem = std::move(why);
    } else if (compiler.version.empty()) {
      compiler.problem = missingPackage(textOf(hello, "executable"), package);
    }
    found.push_back(std::move(compiler));
  }
  return found;
}

}  // namespace

Result<FoundEnvironment> tryEnvironment(const Environment& environment, const StopToken& stop,
                                        const ProbeOptions& options) {
  FoundEnvironment found{.environment = environment};
  const auto listener = listenerIn(environment, options, stop);
  if (!listener.ok()) {
    if (listener.error().cancelled) return listener.error();
    found.problem = listener.error().text();
    return found;
  }
  found.hello = listener.value()->hello();
  found.python = textOf(found.hello, "python");
  found.machine = fmt::format("{} ({})", textOf(found.hello, "machine"), textOf(found.hello, "platform"));
  found.compilers = compilersIn(found.hello);
  return found;
}

}  // namespace fusescope
