#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::test {

/// Returns what is wrong with a read-back plan of any compiler, or an empty text. Problems are: a node is in kernels
/// and has another fate, or has no kernel and no fate; a kernel has a float value as integers, or integers as floats;
/// a kernel reads a value in a type in which no kernel writes it; or a kernel of TensorRT for RTX cannot do the work of
/// its nodes.
std::string problemOfMade(const ReadBackPlan& made);

/// Counts nodes of which a compiler does not disclose what became of them. Holders of bodies are counted apart.
struct SilentNodes {
  std::size_t nodes = 0, silent = 0;  ///< without holders
  std::size_t holders = 0, silentHolders = 0;
  std::map<std::string, std::size_t> byOperator;

  void add(const ReadBackPlan& made);
  double share() const { return nodes == 0 ? 0 : static_cast<double>(silent) / static_cast<double>(nodes); }
  /// Returns "188 of 14000 nodes (1.3 %) and 209 of 230 holders of bodies: 105 Loop, 60 Mul, …".
  std::string text() const;
};

/// Returns whether a tensor with these extents, as a compiler reports them, can be `value`. Three differences are
/// allowed, because the elements and their order are the same. Open extents (negative ones) are equal to all others.
/// Axes of extent 1 do not count: OpenVINO adds one to matrices ([3, 2, 1, 4] is [3, 2, 4]), and TensorRT keeps those
/// in front of a view ([1, 1000, 1, 1] is [1, 1000]). Neighbouring axes may be one, because kernels of TensorRT work on
/// rows ([64, 128] is [2, 32, 128]). A tensor with its axes in another order, or with padded axes, is no such tensor.
bool haveSameExtents(std::vector<std::int64_t> told, const Value& value);

}  // namespace fusescope::test
