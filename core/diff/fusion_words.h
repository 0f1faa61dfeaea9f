#pragma once

#include <string>
#include <vector>

namespace fusescope {

/// What a kernel runs, as far as words for people need it.
struct KernelOps {
  std::vector<std::string> ops;    ///< of its nodes
  std::vector<std::string> nodes;  ///< their names, likewise
};

/// "one kernel → three".
std::string fusionCounts(std::size_t a, std::size_t b);
/// "here one kernel, there three".
std::string kernelCountsText(std::size_t here, std::size_t there);
/// What is apart in B or taken in there: "Gelu apart", "Add and Relu taken in", "Gelu elsewhere"; empty where one side
/// has no kernel.
std::string fusionDetail(const std::vector<KernelOps>& a, const std::vector<KernelOps>& b);

}  // namespace fusescope
