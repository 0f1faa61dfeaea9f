#pragma once

#include <string>
#include <vector>

namespace fusescope {

/// The operators and nodes of a kernel, for texts.
struct KernelOps {
  std::vector<std::string> ops;    ///< operators of its nodes
  std::vector<std::string> nodes;  ///< names of its nodes, in the same order
};

/// Returns "one kernel → three".
std::string fusionCounts(std::size_t a, std::size_t b);
/// Returns "here one kernel, there three".
std::string kernelCountsText(std::size_t here, std::size_t there);
/// Returns "three nodes → one kernel", for nodes of a file and the kernels that contain them.
std::string nodesToKernelsText(std::size_t nodes, std::size_t kernels);
/// Describes how the operators of a kernel differ in B. Operators that B runs separately: "Gelu apart". Operators that
/// B fuses in addition: "Add and Relu taken in". If both sides have equally many kernels, operators that moved to
/// another kernel: "Gelu elsewhere", and operators that only one side has: "with QuantizeLinear in B". If `sameNames`
/// is false, matched nodes may have different names, and only the numbers of kernels are compared. Returns an empty
/// text if one side has no kernel or nothing differs.
std::string fusionDetail(const std::vector<KernelOps>& a, const std::vector<KernelOps>& b, bool sameNames = true);

}  // namespace fusescope
