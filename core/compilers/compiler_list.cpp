// Lists all compilers. Each has a folder and a line in compilers.inc; those that a probe reaches have a line in
// probed/probed_kinds.inc.
#include <algorithm>
#include <vector>

#include "compilers/compiler.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {

#define COMPILER(name) const Compiler& name##Compiler();
#include "compilers/compilers.inc"
#undef COMPILER

std::span<const Compiler* const> allCompilers() {
  static const std::vector<const Compiler*> all = [] {
    std::vector<const Compiler*> list = {
#define COMPILER(name) &name##Compiler(),
#include "compilers/compilers.inc"
#undef COMPILER
    };
    for (const ProbedKind* kind : allProbedKinds()) list.push_back(findProbedCompiler(kind->name()));
    return list;
  }();
  return all;
}

const Compiler* findCompiler(std::string_view name) {
  const auto found = std::ranges::find(allCompilers(), name, &Compiler::name);
  return found == allCompilers().end() ? findProbedCompiler(name) : *found;
}

}  // namespace fusescope
