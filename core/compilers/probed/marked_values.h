#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compilers/probed/handed_values.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {

/// Values inside a network that a compiler made outputs.
struct MarkedValues {
  std::vector<std::map<std::string, Tensor>> samples;  ///< of each: the values, by their names in the plan
  std::map<std::string, std::string> whyNot;           ///< of the others that stand between kernels: why
  std::int64_t builds = 0;
};

/// A network as it was compiled, without marks.
struct UnmarkedNetwork {
  const ProbedCompiler& compiler;
  const HandedNetwork& network;
  const Json& options;  ///< that it was compiled with
  const NamesInFile& inputs;
  const ReadBackPlan& made;
};

/// What stands between the kernels of a network on `samples`, each value where making it an output leaves all kernels
/// as they are: their nodes, kinds, types and formats, by what the compiler tells of both. All are tried at once, and
/// what changes kernels by halves, down to one value, within `mostBuilds`. The outputs must stay the same numbers, too.
/// Errors: cancellation alone; whatever else fails is a reason of MarkedValues::whyNot.
Result<MarkedValues> markedValues(const UnmarkedNetwork& of, std::span<const std::map<std::string, Tensor>> samples,
                                  std::int64_t mostBuilds, const BuildOptions& options);

}  // namespace fusescope
