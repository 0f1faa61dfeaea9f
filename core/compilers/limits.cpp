#include "compilers/limits.h"

#include <fmt/format.h>

#include "base/text.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {

namespace {

/// Returns the names of the compilers that have a limit of their scratch memory.
std::vector<std::string> compilersWithWorkspace() {
  std::vector<std::string> names;
  for (const Compiler* compiler : allCompilers()) {
    const auto* probed = dynamic_cast<const ProbedCompiler*>(compiler);
    if (probed == nullptr ? compiler == &ownCompiler() : probed->kind().whyNoWorkspace().empty())
      names.emplace_back(compiler->name());
  }
  return names;
}

}  // namespace

Status checkLimits(const Compiler& compiler, const PlanOptions& options) {
  const auto* probed = dynamic_cast<const ProbedCompiler*>(&compiler);
  if (probed == nullptr || options.workspaceBytes == 0) return Done{};
  std::string why = probed->kind().whyNoWorkspace();
  if (why.empty()) return Done{};
  if (why.back() == '.') why.pop_back();
  return Diagnostic{.message = why + ", so the option would be ignored",
                    .where = {.attribute = "--workspace"},
                    .help = fmt::format("Leave the option out for {}; {} have such a limit.", compiler.name(),
                                        joined(compilersWithWorkspace()))};
}

std::string whyNoRefit(const Compiler& compiler) {
  if (const auto* probed = dynamic_cast<const ProbedCompiler*>(&compiler)) return probed->kind().whyNoRefit();
  return fmt::format("{} has no means to change the weights of a network that it compiled", compiler.name());
}

}  // namespace fusescope
