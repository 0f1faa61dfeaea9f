#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compilers/onnxruntime/tensor_bindings.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::onnxruntime {

/// What an operator does with the elements that it reads.
enum class Work {
  Moves,      ///< it only changes their positions
  Rewrites,   ///< it only changes their type or makes codes of them
  Calculates  ///< anything else
};
Work workOf(std::string_view op);

/// A node of the original network, and the kernel of the optimised network that calculates it.
struct HeldNode {
  std::uint32_t node = kNone, kernel = kNone;
  Certainty certainty = Certainty::Guessed;
};

/// Assigns the nodes in the cover of a region to its kernels. A node that no kernel can calculate is assigned to none.
/// `kernels` are nodes of the optimised graph, in its order.
std::vector<HeldNode> splitRegion(const Network& network, const Optimised& optimised,
                                  std::span<const std::uint32_t> kernels, const SliceCover& cover);

}  // namespace fusescope::onnxruntime
