#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "planning/plan.h"

namespace fusescope::test {

/// What running the fused nodes of a plan one by one showed, each native tactic beside the reference on what the
/// reference left before it.
struct NodeByNode {
  std::vector<std::string> problems;  ///< of kernels that cannot be run or are further off than they may
  std::vector<std::string> emulated;  ///< fused nodes that no tactic of ours runs, and why not: "conv_1 (conv)"
  bool isUnknown = false;  ///< extents depend on data, or the reference cannot run a node: the rest was left out
  int fusedNodes = 0;
  int kernels = 0;      ///< native ones that ran
  int narrow = 0;       ///< of them those whose node would be emulated by the reference
  double worstUlp = 0;  ///< beyond 1e-5 of the rms, in units of the last place of the type stored
};

/// A kernel may be 2 ulp of the type it stores and 1e-5 of the rms away. Where its contract narrows an inner edge, a
/// number next to a tie may be rounded the other way: one of a hundred elements may then be off by one such rounding of
/// the largest.
NodeByNode runNodeByNode(const Plan& plan, const std::map<std::string, Tensor>& inputs);

}  // namespace fusescope::test
