// Elements that are moved in a regular pattern, by strides.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/extent_arithmetic.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/movement_schema.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

/// result[...] = input[base + strides · index] over the inferred extents.
Result<Tensors> gatherStrided(const KernelContext& context, const Dims& strides, std::int64_t base = 0) {
  const Tensor& input = context.input(0);
  const Dims dims = context.outputDims(0);
  return dispatchStorage(input.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(input.type(), dims));
    copyStrided<T>(dims, elementsOf<T>(input).data() + base, strides, builder.elements().data(), denseStrides(dims));
    return Tensors{std::move(builder).finish()};
  });
}

// --- Transpose

Result<std::vector<std::size_t>> permutation(const Node& node, std::size_t rank) {
  const Ints given = node.intsAttribute("perm");
  std::vector<std::size_t> order;
  if (!node.hasAttribute("perm"))
    for (std::size_t i = rank; i-- > 0;) order.push_back(i);
  for (const std::int64_t axis : given) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) ||
        std::find(order.begin(), order.end(), static_cast<std::size_t>(axis)) != order.end())
      return attributeProblem("perm", fmt::format("{} is not a permutation of {} axes", toText(given), rank));
    order.push_back(static_cast<std::size_t>(axis));
  }
  if (order.size() != rank)
    return attributeProblem("perm", fmt::format("{} is not a permutation of {} axes", toText(given), rank));
  return order;
}

Result<Types> inferTranspose(const InferContext& context) {
  const TensorType& x = context.input(0);
  if (!x.shape.ranked)
    return one(x.dtype, context.node().hasAttribute("perm") ? unknownOfRank(context.node().intsAttribute("perm").size())
                                                            : Shape::unknown());
  std::vector<Dim> dims;
  for (const std::size_t axis : TRY(permutation(context.node(), x.shape.rank()))) dims.push_back(x.shape.dims[axis]);
  return one(x.dtype, Shape::of(std::move(dims)));
}

Result<Tensors> transpose(const KernelContext& context) {
  const Dims dense = denseStrides(context.input(0).dims());
  Dims strides;
  for (const std::size_t axis : TRY(permutation(context.node(), dense.size()))) strides.push_back(dense[axis]);
  return gatherStrided(context, strides);
}

// --- Expand

Result<Types> inferExpand(const InferContext& context) {
  const TensorType& x = context.input(0);
  TRY(requireRank(context, 1, 1));
  const auto wanted = knownInts(context, 1);
  if (wanted) {
    for (const std::int64_t extent : *wanted)
      if (extent < 0) return problem(fmt::format("the shape contains {}, but an extent cannot be negative", extent));
    return one(x.dtype, TRY(broadcast(x.shape, Shape::of(*wanted))));
  }
  const Shape& shape = context.input(1).shape;
  if (!x.shape.ranked || !shape.ranked || !shape.dims[0].known() || shape.dims[0].size > 64)
    return one(x.dtype, Shape::unknown());
  return one(x.dtype, TRY(broadcast(x.shape, unknownOfRank(static_cast<std::size_t>(shape.dims[0].size)))));
}

Result<Tensors> expand(const KernelContext& context) {
  return gatherStrided(context, broadcastStrides(context.input(0).dims(), context.outputDims(0)));
}

// --- Concat and Split

Result<Types> inferConcat(const InferContext& context) {
  if (!context.node().hasAttribute("axis")) return attributeProblem("axis", "is missing");
  const DataType type = context.input(0).dtype;
  Shape result;
  Dim along(0);
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    const Shape& shape = context.input(i).shape;
    if (!shape.ranked) {
      along = Dim();
      continue;
    }
    const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), shape.rank()));
    if (!result.ranked) result = unknownOfRank(shape.rank());
    if (result.rank() != shape.rank())
      return problem(fmt::format("input {} has rank {}, but others have rank {}", i, shape.rank(), result.rank()));
    for (std::size_t d = 0; d < shape.rank(); ++d)
      if (d != axis)
        result.dims[d] = TRY(unified(context, result.dims[d], shape.dims[d], fmt::format("extents along axis {}", d)));
    if (context.inputCount() == 1)
      along = shape.dims[axis];
    else
      along = sumOf(along, shape.dims[axis]);
    if (along.size > (std::int64_t{1} << 60)) return problem("the extent of the result is too large");
  }
  if (result.ranked) result.dims[TRY(normalizedAxis(context.node().intAttribute("axis", 0), result.rank()))] = along;
  return one(type, std::move(result));
}

Result<Tensors> concat(const KernelContext& context) {
  const Dims dims = context.outputDims(0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), dims.size()));
  const AxisSplit whole = splitAt(dims, axis);
  return dispatchStorage(context.outputType(0), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(context.outputType(0), dims));
    T* to = builder.elements().data();
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
      const std::int64_t block = context.input(i).dims()[axis] * whole.inner;
      const T* from = elementsOf<T>(context.input(i)).data();
      for (std::int64_t o = 0; o < whole.outer; ++o)
        std::copy(from + o * block, from + (o + 1) * block, to + o * whole.extent * whole.inner);
      to += block;
    }
    return Tensors{std::move(builder).finish()};
  });
}

/// Returns the extents of the parts along the axis.
Result<std::vector<Dim>> partExtents(const InferContext& context, const Dim& along) {
  const auto parts = static_cast<std::int64_t>(std::max<std::size_t>(context.node().outputs.size(), 1));
  if (const auto given = knownInts(context, 1)) {
    if (static_cast<std::int64_t>(given->size()) != parts)
      return problem(fmt::format("'split' has {} entries, but the node has {} outputs", given->size(), parts));
    std::int64_t sum = 0;
    for (const std::int64_t extent : *given)
      if (extent < 0 || __builtin_add_overflow(sum, extent, &sum))
        return problem(fmt::format("'split' contains {}, which is not a valid extent", extent));
    if (along.known() && sum != along.size)
      return problem(fmt::format("the extents of the parts sum to {}, but the axis has extent {}", sum, along.size));
    context.demand({.left = along, .right = Dim(sum)});
    return std::vector<Dim>(given->begin(), given->end());
  }
  if (context.hasInput(1)) return std::vector<Dim>(static_cast<std::size_t>(parts));
  if (context.node().intAttribute("num_outputs", parts) != parts)
    return attributeProblem("num_outputs", fmt::format("is {}, but the node has {} outputs",
                                                       context.node().intAttribute("num_outputs", parts), parts));
  const Dim each = dividedExtent(along, parts - 1, parts);  // the last part may be smaller
  std::vector<Dim> extents(static_cast<std::size_t>(parts), each);
  extents.back() = differenceOf(along, scaledExtent(each, parts - 1));
  if (along.known() && !extents.back().known())
    return problem(fmt::format("an axis of extent {} cannot be split into {} parts", along.size, parts));
  return extents;
}

Result<Types> inferSplit(const InferContext& context) {
  const TensorType& x = context.input(0);
  const std::size_t parts = std::max<std::size_t>(context.node().outputs.size(), 1);
  if (!x.shape.ranked) return Types(parts, TensorType{x.dtype, Shape::unknown()});
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), x.shape.rank()));
  Types types(parts, x);
  const std::vector<Dim> extents = TRY(partExtents(context, x.shape.dims[axis]));
  for (std::size_t i = 0; i < parts; ++i) types[i].shape.dims[axis] = extents[i];
  return types;
}

Result<Tensors> split(const KernelContext& context) {
  const Tensor& input = context.input(0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), input.dims().size()));
  const AxisSplit whole = splitAt(input.dims(), axis);
  return dispatchStorage(input.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    Tensors results;
    const T* from = elementsOf<T>(input).data();
    for (std::size_t i = 0; i < context.outputCount(); ++i) {
      auto builder = TRY(Builder<T>::create(input.type(), context.outputDims(i)));
      const std::int64_t block = context.outputDims(i)[axis] * whole.inner;
      for (std::int64_t o = 0; o < whole.outer; ++o) {
        const T* start = from + o * whole.extent * whole.inner;
        std::copy(start, start + block, builder.elements().data() + o * block);
      }
      from += block;
      results.push_back(std::move(builder).finish());
    }
    return results;
  });
}

// --- Slice

/// Where a slice begins along one axis, its step, and its number of elements.
struct Cut {
  std::int64_t start = 0, step = 1, count = 0;
};

Cut cutOf(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto clamped = [&](std::int64_t at) {
    if (at < 0) at = at < -extent ? -1 : at + extent;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, extent) : std::clamp<std::int64_t>(at, -1, extent - 1);
  };
  start = start < -extent ? (step > 0 ? 0 : -1) : clamped(start);
  end = clamped(end);
  Cut cut{start, step, 0};
  if (step > 0 && end > start) cut.count = (end - start - 1) / step + 1;
  if (step < 0 && start > end) cut.count = (start - end - 1) / (step == INT64_MIN ? INT64_MAX : -step) + 1;
  return cut;
}

struct SliceInputs {
  Ints starts, ends, axes, steps;
};

/// Returns the values that determine the slice, completed by their defaults.
Result<SliceInputs> completed(Ints starts, Ints ends, std::optional<Ints> axes, std::optional<Ints> steps) {
  SliceInputs inputs{std::move(starts), std::move(ends), axes.value_or(Ints{}), steps.value_or(Ints{})};
  const std::size_t count = inputs.starts.size();
  for (std::size_t i = 0; i < count && !axes; ++i) inputs.axes.push_back(static_cast<std::int64_t>(i));
  if (!steps) inputs.steps.assign(count, 1);
  if (inputs.ends.size() != count || inputs.axes.size() != count || inputs.steps.size() != count)
    return problem("starts, ends, axes and steps have different lengths");
  for (const std::int64_t step : inputs.steps)
    if (step == 0) return problem("steps contains 0, which is not allowed");
  return inputs;
}

Result<Types> inferSlice(const InferContext& context) {
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  const auto starts = knownInts(context, 1), ends = knownInts(context, 2);
  const auto axes = knownInts(context, 3), steps = knownInts(context, 4);
  const bool axesKnown = !context.hasInput(3) || axes;
  Shape shape = x.shape;
  if (!axesKnown) return one(x.dtype, unknownOfRank(shape.rank()));
  if (!starts || !ends || (context.hasInput(4) && !steps)) {
    const auto cut = axes ? TRY(normalizedAxes(*axes, shape.rank())) : std::vector<std::size_t>();
    for (const std::size_t axis : cut) shape.dims[axis] = Dim();
    return one(x.dtype, axes ? std::move(shape) : unknownOfRank(shape.rank()));
  }
  const SliceInputs given = TRY(completed(*starts, *ends, axes, steps));
  const auto cutAxes = TRY(normalizedAxes(given.axes, shape.rank()));
  for (std::size_t i = 0; i < cutAxes.size(); ++i) {
    Dim& dim = shape.dims[cutAxes[i]];
    if (dim.known())
      dim = Dim(cutOf(dim.size, given.starts[i], given.ends[i], given.steps[i]).count);
    else
      dim = given.steps[i] == 1 ? cutExtent(dim, given.starts[i], given.ends[i]) : Dim();
  }
  return one(x.dtype, std::move(shape));
}

Result<Tensors> slice(const KernelContext& context) {
  const auto ints = [&](std::size_t i) {
    return context.hasInput(i) ? std::optional(int64Values(context.input(i))) : std::nullopt;
  };
  const Dims& dims = context.input(0).dims();
  const SliceInputs given = TRY(completed(*ints(1), *ints(2), ints(3), ints(4)));
  const auto axes = TRY(normalizedAxes(given.axes, dims.size()));
  Dims strides = denseStrides(dims);
  std::int64_t base = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Cut cut = cutOf(dims[axes[i]], given.starts[i], given.ends[i], given.steps[i]);
    if (cut.count > 0) base += cut.start * strides[axes[i]];
    strides[axes[i]] = cut.count > 1 ? strides[axes[i]] * cut.step : 0;
  }
  return gatherStrided(context, strides, base);
}

}  // namespace

void registerMovement(OpRegistry& registry) {
  registry.add(movementSchema("Concat", 1, -1, inferConcat, concat, {"T", {{'T', kAnyType}}}));
  registry.add(movementSchema("Expand", 2, 2, inferExpand, expand, {"TI", {{'T', kAnyType}, {'I', kInt64Type}}}));
  registry.add(movementSchema("Slice", 3, 5, inferSlice, slice, {"TIIII", {{'T', kAnyType}, {'I', kIndexTypes}}}));
  OpSchema splitSchema = movementSchema("Split", 1, 2, inferSplit, split, {"TI", {{'T', kAnyType}, {'I', kInt64Type}}});
  splitSchema.maxOutputs = -1;
  registry.add(std::move(splitSchema));
  registry.add(movementSchema("Transpose", 1, 1, inferTranspose, transpose, {"T", {{'T', kAnyType}}}));
}

}  // namespace fusescope::ops
