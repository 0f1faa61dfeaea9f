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
/// "three nodes → one kernel": of nodes as a file has them and the kernels that hold them.
std::string nodesToKernelsText(std::size_t nodes, std::size_t kernels);
/// What is apart in B or taken in there: "Gelu apart", "Add and Relu taken in"; of as many kernels on both sides, what
/// is in another kernel, or of one side alone: "Gelu elsewhere", "with QuantizeLinear in B". `sameNames`: counterparts
/// have the same names; else only numbers of kernels tell. Empty where one side has no kernel, or nothing tells.
std::string fusionDetail(const std::vector<KernelOps>& a, const std::vector<KernelOps>& b, bool sameNames = true);

}  // namespace fusescope
