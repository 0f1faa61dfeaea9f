#include "backends/native/lowering/tape_nodes.h"

#include <algorithm>
#include <cmath>

#include "backends/native/lowering/tape_builder.h"
#include "base/hash.h"

namespace fusescope::native {
namespace {

/// Packs one number for each channel, from scale, bias, mean and variance: the factor of x, or, if `isShift` is true,
/// what is added afterwards.
Packing packingOfNorm(std::vector<Weight> parameters, float epsilon, bool isShift) {
  KeyBuilder form;
  form.text("batch_norm").number(epsilon).number(isShift);
  return packingOf(
      form.canonical(), std::move(parameters), [epsilon, isShift](std::span<const Tensor> numbers) -> Result<Tensor> {
        Tensor packed = Tensor::zeros(DataType::F32, {numbers[0].count()});
        const double wide = epsilon;
        for (std::int64_t c = 0; c < packed.count(); ++c) {
          const double factor = numbers[0].asDouble(c) / std::sqrt(numbers[3].asDouble(c) + wide);
          const double number = isShift ? numbers[1].asDouble(c) - numbers[2].asDouble(c) * factor : factor;
          packed.mutableData<float>()[static_cast<std::size_t>(c)] = static_cast<float>(number);
        }
        return packed;
      });
}

// Returns whether a batch norm can be calculated with a factor and a shift per channel, which requires that its four
// parameters are constants.
bool isTapeBatchNorm(const RegionFacts& region, const Node& node) {
  for (std::size_t i = 1; i < 5; ++i)
    if (!region.isConstant(node.input(i))) return false;
  return region.typeOf(node.input(0)) == DataType::F32 && node.domain.empty() &&
         region.dimsOf(node.input(0)).size() >= 2 &&
         std::ranges::count_if(node.outputs, [](ValueId value) { return value.valid(); }) == 1 &&
         node.intAttribute("training_mode", 0) == 0;
}

}  // namespace

bool isTapeType(DataType type) {
  return type == DataType::F32 || type == DataType::Bool;
}

bool isTapeQuantization(const RegionFacts& region, const Node& node) {
  const bool quantizes = node.is("QuantizeLinear");
  const DataType floats = region.typeOf(quantizes ? node.input(0) : node.outputs[0]);
  const DataType codes = region.typeOf(quantizes ? node.outputs[0] : node.input(0));
  if (!region.isConstant(node.input(1))) return false;
  const Weight scale = region.weight(node.input(1));
  const bool fits =
      floats == DataType::F32 && isByteInteger(codes) && scale.type == DataType::F32 && scale.dims.size() <= 1;
  const bool plainRule = node.intAttribute("block_size", 0) == 0 && node.intAttribute("precision", 0) == 0;
  const ValueId zero = node.input(2);
  const bool isAlongAxis = elementCount(scale.dims) != 1;  // a single number is valid for data without axes, too
  return fits && plainRule && !(isAlongAxis && region.dimsOf(node.input(0)).empty()) &&
         (!zero.valid() || (region.isConstant(zero) && elementCount(region.dimsOf(zero)) == elementCount(scale.dims)));
}

bool isPointwise(const RegionFacts& region, const Node& node) {
  if (isQuantization(node)) return isTapeQuantization(region, node);
  if (node.is("BatchNormalization")) return isTapeBatchNorm(region, node);
  if (node.outputs.size() == 1 && node.domain.empty() &&
      isIntegerTape(node, region.typeOf(node.input(0)), region.typeOf(node.outputs[0])))
    return true;
  if (!hasTapeOperator(node) || !isTapeType(region.typeOf(node.outputs[0]))) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId input) { return !input.valid() || isTapeType(region.typeOf(input)); });
}

// Packs the factor or the shift of y = x · (scale / √(variance + ε)) + (bias - mean · scale / √(variance + ε)).
Packing batchNormPacking(const RegionFacts& region, const Node& norm, bool isShift) {
  std::vector<Weight> parameters;
  for (std::size_t i = 1; i < 5; ++i) parameters.push_back(region.weight(norm.input(i)));
  return packingOfNorm(std::move(parameters), norm.floatAttribute("epsilon", 1e-5f), isShift);
}

}  // namespace fusescope::native
