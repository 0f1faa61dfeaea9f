// All compilers: a folder and a line of compilers.inc each.
#include <algorithm>

#include "compilers/compiler.h"

namespace fusescope {

#define COMPILER(name) const Compiler& name##Compiler();
#include "compilers/compilers.inc"
#undef COMPILER

std::span<const Compiler* const> allCompilers() {
  static const Compiler* const all[] = {
#define COMPILER(name) &name##Compiler(),
#include "compilers/compilers.inc"
#undef COMPILER
  };
  return all;
}

const Compiler* findCompiler(std::string_view name) {
  const auto found = std::ranges::find(allCompilers(), name, &Compiler::name);
  return found == allCompilers().end() ? nullptr : *found;
}

}  // namespace fusescope
