#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compilers/onnxruntime/reading.h"
#include "ir/tensor.h"

namespace fusescope::onnxruntime {

/// Tensors of the two networks that a binding considers equal.
struct BoundPair {
  std::uint32_t optimised = kNone, tensor = kNone;
};

/// Returns the bindings that can be checked by numbers, which are those of calculated tensors, in groups for which
/// either network returns at most about `mostBytes` bytes.
std::vector<std::vector<BoundPair>> pairsToCompare(const Reading& reading, std::int64_t mostBytes);

/// Returns whether a tensor of the optimised network, in the layout in which ONNX Runtime returns it, has the same
/// numbers as a tensor of the original network. Floats may differ by what another order of summation causes, and codes
/// of a quantised network by one and a half steps on average.
bool areEqual(const Tensor& optimised, Layout layout, const Tensor& handed, bool isQuantised);

/// Records the result of a comparison. A binding by rules that the numbers refute is removed.
void note(Reading& reading, const BoundPair& pair, bool isEqual);

/// Assigns nodes to kernels again, with the recorded results.
void coverAgain(Reading& reading);

/// Returns whether nodes of the network calculate with quantised codes.
bool isQuantised(const Network& network);

}  // namespace fusescope::onnxruntime
