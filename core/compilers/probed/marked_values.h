#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compilers/probed/handed_values.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {

/// Values inside a network that were calculated as additional outputs.
struct MarkedValues {
  std::vector<std::map<std::string, Tensor>> samples;  ///< for each sample, the values by their names in the plan
  std::map<std::string, std::string> whyNot;           ///< the reason for each value between kernels that is missing
  std::int64_t builds = 0;
};

/// A network as it was compiled without additional outputs.
struct UnmarkedNetwork {
  const ProbedCompiler& compiler;
  const CompilerInput& network;
  const Json& options;  ///< the options that it was compiled with
  const NamesInFile& inputs;
  const ReadBackPlan& made;
};

/// Calculates the values between the kernels of a network on `samples`. For that, a value is made an output of the
/// network, and its numbers are used only if this does not change the kernels (nodes, kinds, types and formats, as read
/// back with and without it) or the outputs. First all values are marked at once; if that changes kernels, halves of
/// them are tried, down to single values, with at most `mostBuilds` builds. Errors: cancellation; any other failure is
/// a reason in MarkedValues::whyNot.
Result<MarkedValues> markedValues(const UnmarkedNetwork& of, std::span<const std::map<std::string, Tensor>> samples,
                                  std::int64_t mostBuilds, const BuildOptions& options);

}  // namespace fusescope
