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
  std::vector<std::map<std::string, Tensor>> samples;  ///< by sample: the values, by their names in the plan
  std::map<std::string, std::string> whyNot;           ///< by value between kernels that is not there: the reason
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

/// Calculates the values between the kernels of a network on `samples`. A value is marked as an output of the network
/// for that, and is only taken if this leaves all kernels as they were (nodes, kinds, types and formats, as read back
/// with and without the marks) and gives the same outputs. All values are marked at once; where that changes kernels,
/// halves of them are tried, down to single values, with at most `mostBuilds` builds. Errors: cancellation; whatever
/// else fails is a reason in MarkedValues::whyNot.
Result<MarkedValues> markedValues(const UnmarkedNetwork& of, std::span<const std::map<std::string, Tensor>> samples,
                                  std::int64_t mostBuilds, const BuildOptions& options);

}  // namespace fusescope
