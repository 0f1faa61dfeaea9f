#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compilers/onnxruntime/reading.h"
#include "ir/tensor.h"

namespace fusescope::onnxruntime {

/// Tensors of the two networks that a binding takes for one.
struct BoundPair {
  std::uint32_t optimised = kNone, tensor = kNone;
};

/// Bindings that numbers can prove: of what kernels calculate, in parts of which either network hands out about
/// `mostBytes` at the most.
std::vector<std::vector<BoundPair>> pairsToCompare(const Reading& reading, std::int64_t mostBytes);

/// Whether a tensor of the optimised network, as ONNX Runtime hands it out in its layout, has the numbers of one of the
/// network that was handed over. Floats differ by what another order of sums makes of them, codes of a quantised
/// network by one and a half steps in the mean.
bool areEqual(const Tensor& optimised, Layout layout, const Tensor& handed, bool isQuantised);

/// Writes down what the numbers say of `pair`. A binding by rules that they refute is none any more.
void note(Reading& reading, const BoundPair& pair, bool isEqual);

/// Binds nodes to kernels anew, by what was noted.
void coverAgain(Reading& reading);

/// Whether nodes of the network calculate with codes.
bool isQuantised(const Network& network);

}  // namespace fusescope::onnxruntime
