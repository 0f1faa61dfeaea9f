#include "ops/support/joining.h"

#include <algorithm>

#include "ops/run_node.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

Result<Tensor> runOn(const Node& node, std::span<const Tensor> inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : inputs) pointers.push_back(&tensor);
  return TRY(runNode(node, pointers)).at(0);
}

}  // namespace

Result<Tensor> concatenated(std::span<const Tensor> parts, std::int64_t axis) {
  return runOn({.op = "Concat", .attributes = {{"axis", axis}}}, parts);
}

Result<Tensor> stacked(std::span<const Tensor> parts, std::int64_t axis) {
  if (parts.empty()) return problem("there is no value to stack");
  std::vector<Tensor> thick;
  for (const Tensor& part : parts) {
    if (part.container() != Container::None) return problem("sequences and optionals cannot be stacked");
    const std::size_t place = TRY(normalizedAxis(axis, part.dims().size() + 1));
    Dims dims = part.dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(place), 1);
    thick.push_back(part.reshaped(std::move(dims)));
  }
  return concatenated(thick, axis);
}

Result<Tensor> scanOutput(std::span<const Tensor> parts, std::int64_t axis, const TensorType& type) {
  if (!parts.empty()) return stacked(parts, axis);
  if (type.dtype == DataType::Undefined || type.container != Container::None)
    return problem("the body does not run, so the element type of a scan output is not known");
  if (!type.shape.ranked) return allocate(type.dtype, {0});
  Dims dims;
  for (const Dim& dim : type.shape.dims) dims.push_back(std::max<std::int64_t>(dim.size, 0));
  dims[TRY(normalizedAxis(axis, dims.size()))] = 0;
  return allocate(type.dtype, dims);
}

Result<Tensor> sliceOf(const Tensor& tensor, std::size_t axis, std::int64_t start, std::int64_t count) {
  const std::vector<Tensor> inputs{tensor, Tensor::ofInt64({start}), Tensor::ofInt64({start + count}),
                                   Tensor::ofInt64({static_cast<std::int64_t>(axis)})};
  return runOn({.op = "Slice"}, inputs);
}

Result<Tensor> placeOf(const Tensor& tensor, std::size_t axis, std::int64_t place) {
  const Tensor slice = TRY(sliceOf(tensor, axis, place, 1));
  Dims dims = slice.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return slice.reshaped(std::move(dims));
}

}  // namespace fusescope::ops
