#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/code.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// A constant of a region whose numbers are not needed while lowering: a weight slot, or a result that constant nodes
/// calculate from weightSlots. It does not refer to a graph.
struct Weight {
  DataType type = DataType::Undefined;
  Dims dims;
  std::string form;                      ///< canonical text of how it is calculated from its slots; empty for a slot
                                         ///< itself
  std::vector<std::size_t> weightSlots;  ///< see Packing::weightSlots
  std::function<Result<Tensor>(std::span<const Tensor> sources)> numbers;
};

/// Returns the weight for slot `slot` of a region, whose constant is `tensor`.
Weight slotWeight(std::size_t slot, const Tensor& tensor);
/// Returns the weight that `node` calculates at `output` from `operands` with the reference kernel. An operand that the
/// node does not have is a Weight of undefined type.
Weight calculatedWeight(const Node& node, std::vector<Weight> operands, DataType type, Dims dims);

/// Returns `weight`, which contains floats, as f32 rounded to `type`.
Weight roundedWeight(Weight weight, DataType type);

/// Returns a packing that `pack` makes from the numbers of `weights`, in their order. `form` must describe everything
/// that it depends on.
Packing packingOf(const std::string& form, std::vector<Weight> weights,
                  std::function<Result<Tensor>(std::span<const Tensor> numbers)> pack);
/// Packs `weight` row-major in `type`; without a copy if it has that type in the file.
Packing plainPacking(Weight weight, DataType type);

/// Returns `bytes` bytes of memory for a packed form, not initialised and aligned to 64 bytes.
Tensor packedMemory(std::size_t bytes);

}  // namespace fusescope::native
