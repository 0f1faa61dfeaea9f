#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/code.h"
#include "ir/graph.h"

namespace fusescope::native {

/// A constant of a region whose numbers a lowering does not need to know: a slot, or what constant nodes calculate of
/// weightSlots. It points into no graph.
struct Weight {
  DataType type = DataType::Undefined;
  Dims dims;
  std::string form;                      ///< canonical: how it comes of its slots; empty for a slot itself
  std::vector<std::size_t> weightSlots;  ///< as Packing::weightSlots
  std::function<Result<Tensor>(std::span<const Tensor> sources)> numbers;
};

/// Constant `slot` of a region, which is `tensor`.
Weight slotWeight(std::size_t slot, const Tensor& tensor);
/// What `node` gives at `output` of `operands`, as the reference kernel calculates it. An operand that the node does
/// not have is a Weight of undefined type.
Weight calculatedWeight(const Node& node, std::vector<Weight> operands, DataType type, Dims dims);

/// `weight`, which holds floats, as f32 rounded to `type`.
Weight roundedWeight(Weight weight, DataType type);

/// What is packed out of the numbers of `weights`, in their order, by `pack`. `form` says all that it depends on.
Packing packingOf(const std::string& form, std::vector<Weight> weights,
                  std::function<Result<Tensor>(std::span<const Tensor> numbers)> pack);
/// `weight` row-major at `type`; as it lies in the file where it is of that type.
Packing plainPacking(Weight weight, DataType type);

/// `bytes` of memory for a packed form, not initialised, 64-byte aligned.
Tensor packedMemory(std::size_t bytes);

}  // namespace fusescope::native
