#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "planning/plan.h"

namespace fusescope::test {

/// The result of running the fused nodes of a plan one by one. Each native tactic is compared with the reference, on
/// the values that the reference calculated before.
struct NodeByNode {
  /// Describes kernels that cannot run, or whose difference from the reference is too large.
  std::vector<std::string> problems;
  /// Fused nodes for which there is no native tactic, and the reason: "conv_1 (conv)".
  std::vector<std::string> emulated;
  /// Extents depend on data, or the reference cannot run a node, so that the remaining nodes were not run.
  bool isUnknown = false;
  int fusedNodes = 0;
  int kernels = 0;  ///< number of native kernels that ran
  int narrow = 0;   ///< how many of these ran nodes for which the reference has to emulate a type
  /// The largest difference beyond 1e-5 of the rms, in units of the last place of the stored type.
  double worstUlp = 0;
};

/// Runs the fused nodes of `plan`. A kernel may differ from the reference by 2 ulp of its stored type plus 1e-5 of the
/// rms. If its contract narrows an inner edge, numbers next to a tie may be rounded to the other side: one of a hundred
/// elements may then differ by one such rounding of the largest element.
NodeByNode runNodeByNode(const Plan& plan, const std::map<std::string, Tensor>& inputs);

}  // namespace fusescope::test
