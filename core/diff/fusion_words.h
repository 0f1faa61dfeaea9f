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
/// Describes how the operators of a kernel differ in B. Operators that B runs separately: "Gelu apart". Operators that
/// B fuses in addition: "Add and Relu taken in". If both sides have equally many kernels, operators that moved to
/// another kernel: "Gelu elsewhere", and operators that only one side has: "with QuantizeLinear in B". If `sameNames`
/// is false, matched nodes may have different names, and only the numbers of kernels are compared. Returns an empty
/// text if one side has no kernel or nothing differs.
std::string fusionDetail(const std::vector<KernelOps>& a, const std::vector<KernelOps>& b, bool sameNames = true);

}  // namespace fusescope
