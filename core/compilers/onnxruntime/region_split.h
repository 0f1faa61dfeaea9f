#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compilers/onnxruntime/tensor_bindings.h"
#include "planning/read_back_plan.h"

namespace fusescope::onnxruntime {

/// What an operator does to what it reads.
enum class Work {
  Moves,      ///< nothing but the places of elements change
  Rewrites,   ///< the same numbers, written in another type or as codes
  Calculates  ///< all else
};
Work workOf(std::string_view op);

/// A node of the network in a kernel of its optimised form.
struct HeldNode {
  std::uint32_t node = kNone, kernel = kNone;
  Certainty certainty = Certainty::Guessed;
};

/// Which of the kernels of a region hold the nodes of its cover. A node that no kernel can calculate is in none.
/// `kernels`: nodes of the optimised graph, in its order.
std::vector<HeldNode> splitRegion(const Network& network, const Optimised& optimised,
                                  std::span<const std::uint32_t> kernels, const SliceCover& cover);

}  // namespace fusescope::onnxruntime
