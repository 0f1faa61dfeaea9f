#include "backends/native/weight.h"

#include <algorithm>

#include "analysis/structural_key.h"
#include "backends/reference/convert_elements.h"
#include "base/aligned_memory.h"
#include "base/hash.h"
#include "ops/run_node.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kPiece = 1 << 14;  // elements that a thread rounds at a time: few enough to stay in its cache

/// Returns whether convertElements() converts this type to f32 without allocating memory. Several threads may then call
/// it at the same time.
bool isQuicklyConverted(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16 || type == DataType::F64;
}

/// Returns the numbers, which are quickly converted, as f32 rounded to `type`.
Tensor roundedFloats(const Tensor& numbers, DataType type) {
  const auto memory = std::make_shared<const AlignedMemory>(byteSize(DataType::F32, numbers.count()));
  const auto rounded = reinterpret_cast<float*>(memory->data());
  const std::int64_t pieces = (numbers.count() + kPiece - 1) / kPiece;
#pragma omp parallel for
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t first = piece * kPiece, count = std::min(kPiece, numbers.count() - first);
    convertElements(numbers.type(), numbers.bytes() + byteSize(numbers.type(), first), DataType::F32,
                    reinterpret_cast<std::byte*>(rounded + first), count);
    roundElements(type, rounded + first, count);
  }
  return Tensor::view(DataType::F32, numbers.dims(), memory, memory->data());
}

/// Returns the numbers of each of `weights`. The slots of the weights follow each other in `sources`.
Result<std::vector<Tensor>> numbersOf(std::span<const Weight> weights, std::span<const Tensor> sources) {
  std::vector<Tensor> numbers;
  std::size_t first = 0;
  for (const Weight& weight : weights) {
    numbers.push_back(weight.numbers ? TRY(weight.numbers(sources.subspan(first, weight.weightSlots.size())))
                                     : Tensor());
    first += weight.weightSlots.size();
  }
  return numbers;
}

std::vector<std::size_t> slotsOf(std::span<const Weight> weights) {
  std::vector<std::size_t> weightSlots;
  for (const Weight& weight : weights)
    weightSlots.insert(weightSlots.end(), weight.weightSlots.begin(), weight.weightSlots.end());
  return weightSlots;
}

std::string formOf(const std::string& what, std::span<const Weight> weights) {
  KeyBuilder form;
  form.text(what).number(weights.size());
  for (const Weight& weight : weights) {
    form.text(name(weight.type)).number(weight.dims.size()).number(weight.weightSlots.size()).text(weight.form);
    for (const std::int64_t extent : weight.dims) form.number(extent);
  }
  return form.canonical();
}

}  // namespace

Weight slotWeight(std::size_t slot, const Tensor& tensor) {
  return {.type = tensor.type(),
          .dims = tensor.dims(),
          .weightSlots = {slot},
          .numbers = [](std::span<const Tensor> sources) -> Result<Tensor> { return sources.front(); }};
}

Weight calculatedWeight(const Node& node, std::vector<Weight> operands, DataType type, Dims dims) {
  Weight weight{.type = type, .dims = std::move(dims), .form = formOf(operatorKey(node), operands)};
  weight.weightSlots = slotsOf(operands);
  weight.numbers = [node, operands = std::move(operands)](std::span<const Tensor> sources) -> Result<Tensor> {
    const std::vector<Tensor> given = TRY(numbersOf(operands, sources));
    std::vector<const Tensor*> pointers;
    for (std::size_t i = 0; i < given.size(); ++i)
      pointers.push_back(operands[i].type == DataType::Undefined ? nullptr : &given[i]);
    return TRY(runNode(node, pointers)).front();
  };
  return weight;
}

Weight roundedWeight(Weight weight, DataType type) {
  Weight rounded{.type = DataType::F32,
                 .dims = weight.dims,
                 .form = formOf("rounded to " + std::string(name(type)), {&weight, 1}),
                 .weightSlots = weight.weightSlots};
  rounded.numbers = [weight = std::move(weight), type](std::span<const Tensor> sources) -> Result<Tensor> {
    const Tensor numbers = TRY(weight.numbers(sources));
    return roundedFloats(isQuicklyConverted(numbers.type()) ? numbers : numbers.converted(DataType::F32), type);
  };
  return rounded;
}

Packing packingOf(const std::string& form, std::vector<Weight> weights,
                  std::function<Result<Tensor>(std::span<const Tensor> numbers)> pack) {
  Packing packing{.form = formOf(form, weights), .weightSlots = slotsOf(weights)};
  packing.mayFail = std::ranges::any_of(weights, [](const Weight& weight) { return !weight.form.empty(); });
  packing.pack = [weights = std::move(weights),
                  pack = std::move(pack)](std::span<const Tensor> sources) -> Result<Tensor> {
    return pack(TRY(numbersOf(weights, sources)));
  };
  return packing;
}

Packing plainPacking(Weight weight, DataType type) {
  return packingOf("plain " + std::string(name(type)), {std::move(weight)},
                   [type](std::span<const Tensor> numbers) -> Result<Tensor> {
                     const Tensor& from = numbers[0];
                     if (from.type() == type || !isFloat(from.type()) || !isFloat(type)) return from.converted(type);
                     Tensor result = Tensor::zeros(type, from.dims());
                     convertElements(from.type(), from.bytes(), type, result.mutableBytes(), from.count());
                     return result;
                   });
}

Tensor packedMemory(std::size_t bytes) {
  const auto memory = std::make_shared<const AlignedMemory>(bytes);
  return Tensor::view(DataType::U8, {static_cast<std::int64_t>(bytes)}, memory, memory->data());
}

}  // namespace fusescope::native
