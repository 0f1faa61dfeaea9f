// Operators whose result has the same elements in the same order with other extents.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/extent_product.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

Result<Tensors> reshapeKernel(const KernelContext& context) {
  const Dims dims = context.outputDims(0);
  if (elementCount(dims) != context.input(0).count())
    return problem(
        fmt::format("{} elements cannot be reshaped to the extents {}", context.input(0).count(), toText(dims)));
  return Tensors{context.input(0).reshaped(dims)};
}

Result<Shape> reshapedTo(const Shape& from, const Ints& wanted, bool allowZero) {
  std::vector<Dim> dims;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1)
      return problem(fmt::format("the shape contains {}; -1 is the only negative entry allowed", wanted[i]));
    if (wanted[i] == -1 && open) return problem("the shape contains -1 more than once");
    if (wanted[i] == 0 && !allowZero && from.ranked && i >= from.rank())
      return problem(fmt::format("entry {} of the shape is 0, but the input has rank {}", i, from.rank()));
    if (wanted[i] == -1) open = i;
    const bool copied = wanted[i] == 0 && !allowZero;
    dims.push_back(copied ? (from.ranked ? from.dims[i] : Dim()) : wanted[i] == -1 ? Dim() : Dim(wanted[i]));
  }
  if (!from.ranked) return Shape::of(std::move(dims));
  if (open) {
    std::vector<Dim> rest = dims;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*open));
    dims[*open] = TRY(missingExtent(from.dims, rest));
    return Shape::of(std::move(dims));
  }
  const auto before = knownProduct(from.dims), after = knownProduct(dims);
  if (before && after && *before != *after)
    return problem(fmt::format("{} elements cannot be reshaped to the extents {}", *before, toText(wanted)));
  return Shape::of(std::move(dims));
}

Result<Types> inferReshape(const InferContext& context) {
  const TensorType& x = context.input(0);
  TRY(requireRank(context, 1, 1));
  if (const auto wanted = knownInts(context, 1))
    return one(x.dtype, TRY(reshapedTo(x.shape, *wanted, context.node().intAttribute("allowzero", 0) != 0)));
  const Shape& shape = context.input(1).shape;
  if (shape.ranked && shape.dims[0].known() && shape.dims[0].size <= 64)
    return one(x.dtype, unknownOfRank(static_cast<std::size_t>(shape.dims[0].size)));
  return one(x.dtype, Shape::unknown());
}

/// The input may also be a container.
Result<Tensors> identity(const KernelContext& context) {
  return Tensors{context.input(0)};
}

/// Returns the product of extents: known, or the only symbol besides ones, or unknown.
Result<Dim> productOf(std::span<const Dim> dims) {
  return missingExtent({dims.begin(), dims.end()}, {});
}

Result<Types> inferFlatten(const InferContext& context) {
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, unknownOfRank(2));
  const auto rank = static_cast<std::int64_t>(x.shape.rank());
  std::int64_t axis = context.node().intAttribute("axis", 1);
  if (axis < -rank || axis > rank)
    return attributeProblem("axis", fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
  if (axis < 0) axis += rank;
  const std::span<const Dim> dims = x.shape.dims;
  const auto at = static_cast<std::size_t>(axis);
  return one(x.dtype, Shape::of({TRY(productOf(dims.first(at))), TRY(productOf(dims.subspan(at)))}));
}

Result<Types> inferSqueeze(const InferContext& context) {
  const TensorType& x = context.input(0);
  if (!x.shape.ranked || (context.hasInput(1) && !knownInts(context, 1))) return one(x.dtype, Shape::unknown());
  std::vector<std::size_t> axes;
  if (context.hasInput(1)) {
    axes = TRY(normalizedAxes(*knownInts(context, 1), x.shape.rank()));
  } else {
    for (std::size_t i = 0; i < x.shape.rank(); ++i) {
      if (!x.shape.dims[i].known()) return one(x.dtype, Shape::unknown());
      if (x.shape.dims[i].size == 1) axes.push_back(i);
    }
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    const Dim& dim = x.shape.dims[i];
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      dims.push_back(dim);
    else if (dim.known() && dim.size != 1)
      return problem(fmt::format("axis {} cannot be squeezed: its extent is {}, not 1", i, dim.size));
  }
  return one(x.dtype, Shape::of(std::move(dims)));
}

Result<Types> inferUnsqueeze(const InferContext& context) {
  const TensorType& x = context.input(0);
  const auto given = knownInts(context, 1);
  if (!x.shape.ranked || !given) return one(x.dtype, Shape::unknown());
  const std::size_t rank = x.shape.rank() + given->size();
  auto axes = TRY(normalizedAxes(*given, rank));
  std::ranges::sort(axes);
  std::vector<Dim> dims = x.shape.dims;
  for (const std::size_t axis : axes) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
  return one(x.dtype, Shape::of(std::move(dims)));
}

}  // namespace

void registerView(OpRegistry& registry) {
  const OpSignature withInts{"TI", {{'T', kAnyType}, {'I', kInt64Type}}};
  registry.add({.op = "Flatten",
                .kind = OpKind::View,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferFlatten,
                .kernel = reshapeKernel});
  registry.add({.op = "Identity",
                .kind = OpKind::View,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferLikeFirst,
                .kernel = identity,
                .takesContainers = true});
  registry.add({.op = "Reshape",
                .kind = OpKind::View,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferReshape,
                .kernel = reshapeKernel,
                .signature = withInts});
  registry.add({.op = "Squeeze",
                .kind = OpKind::View,
                .minInputs = 1,
                .maxInputs = 2,
                .infer = inferSqueeze,
                .kernel = reshapeKernel,
                .signature = withInts});
  registry.add({.op = "Unsqueeze",
                .kind = OpKind::View,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferUnsqueeze,
                .kernel = reshapeKernel,
                .signature = withInts});
}

}  // namespace fusescope::ops
