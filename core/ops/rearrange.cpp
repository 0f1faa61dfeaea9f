// Elements that are moved between axes, masked, reversed, or set from indices.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/support/extent_arithmetic.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/movement_schema.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

// --- DepthToSpace and SpaceToDepth

Result<std::int64_t> blockSize(const Node& node) {
  const std::int64_t block = node.intAttribute("blocksize", 0);
  if (block < 1 || block > 65536) return attributeProblem("blocksize", "must be given and positive");
  return block;
}

/// Returns an extent multiplied or divided by an integer; an unknown extent stays unknown.
Result<Dim> scaled(const InferContext& context, const Dim& dim, std::int64_t times, std::int64_t by) {
  if (times == by) return dim;
  if (!dim.known()) {
    const Dim parts = dividedExtent(dim, 0, by);
    context.demand({.left = scaledExtent(parts, by), .right = dim});
    return scaledExtent(parts, times);
  }
  if (dim.size % by != 0) return problem(fmt::format("an extent of {} is not divisible by {}", dim.size, by));
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(dim.size / by, times, &extent)) return problem("the extents of the result are too large");
  return Dim(extent);
}

Result<Types> inferDepthToSpace(const InferContext& context) {
  TRY(requireRank(context, 0, 4));
  TRY(choiceAttribute(context.node(), "mode", "DCR", {"DCR", "CRD"}));
  const std::int64_t block = TRY(blockSize(context.node()));
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, unknownOfRank(4));
  const auto& d = x.shape.dims;
  return one(x.dtype, Shape::of({d[0], TRY(scaled(context, d[1], 1, block * block)),
                                 TRY(scaled(context, d[2], block, 1)), TRY(scaled(context, d[3], block, 1))}));
}

Result<Types> inferSpaceToDepth(const InferContext& context) {
  TRY(requireRank(context, 0, 4));
  const std::int64_t block = TRY(blockSize(context.node()));
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, unknownOfRank(4));
  const auto& d = x.shape.dims;
  return one(x.dtype, Shape::of({d[0], TRY(scaled(context, d[1], block * block, 1)),
                                 TRY(scaled(context, d[2], 1, block)), TRY(scaled(context, d[3], 1, block))}));
}

/// Reshapes the input to `split` (more axes), permutes the axes by `order`, and reshapes the result to the output.
Result<Tensors> permuted(const KernelContext& context, const Dims& split, const std::vector<std::size_t>& order) {
  const Tensor& x = context.input(0);
  const Dims dense = denseStrides(split);
  Dims dims, strides;
  for (const std::size_t axis : order) {
    dims.push_back(split[axis]);
    strides.push_back(dense[axis]);
  }
  return dispatchStorage(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(x.type(), context.outputDims(0)));
    copyStrided<T>(dims, elementsOf<T>(x).data(), strides, builder.elements().data(), denseStrides(dims));
    return Tensors{std::move(builder).finish()};
  });
}

Result<Tensors> depthToSpace(const KernelContext& context) {
  const std::int64_t b = TRY(blockSize(context.node()));
  const Dims& d = context.input(0).dims();
  if (context.node().textAttribute("mode", "DCR") == "CRD")
    return permuted(context, {d[0], d[1] / (b * b), b, b, d[2], d[3]}, {0, 1, 4, 2, 5, 3});
  return permuted(context, {d[0], b, b, d[1] / (b * b), d[2], d[3]}, {0, 3, 4, 1, 5, 2});
}

Result<Tensors> spaceToDepth(const KernelContext& context) {
  const std::int64_t b = TRY(blockSize(context.node()));
  const Dims& d = context.input(0).dims();
  const Dims split{d[0], d[1], d[2] / b, b, d[3] / b, b};
  if (context.node().textAttribute("mode", "DCR") == "CRD") return permuted(context, split, {0, 1, 3, 5, 2, 4});
  return permuted(context, split, {0, 3, 5, 1, 2, 4});
}

// --- EyeLike and Trilu

Result<Types> inferEyeLike(const InferContext& context) {
  TRY(requireRank(context, 0, 2));
  const DataType type = TRY(typeAttribute(context.node(), "dtype", context.input(0).dtype));
  if (type != DataType::Undefined && !(kNumberTypes | kBoolType).contains(type))
    return attributeProblem("dtype", fmt::format("a matrix with elements of type {} cannot contain ones", name(type)));
  return one(type, context.input(0).shape);
}

Result<Tensors> eyeLike(const KernelContext& context) {
  const Dims dims = context.outputDims(0);
  const std::int64_t k = context.node().intAttribute("k", 0);
  Tensor ones = TRY(allocate(DataType::I8, dims));
  for (std::int64_t row = 0; row < dims[0]; ++row)
    if (k < dims[1] - row && k >= -row)
      ones.mutableData<std::int8_t>()[static_cast<std::size_t>(row * dims[1] + row + k)] = 1;
  return Tensors{ones.converted(context.outputType(0))};
}

Result<Types> inferTrilu(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 2));
  return inferLikeFirst(context);
}

Result<Tensors> trilu(const KernelContext& context) {
  const Tensor& x = context.input(0);
  if (context.hasInput(1) && context.input(1).count() != 1) return problem("k must be a single number");
  const std::int64_t k = context.hasInput(1) ? context.input(1).asInt64(0) : 0;
  const bool upper = context.node().intAttribute("upper", 1) != 0;
  const std::int64_t rows = x.dims()[x.dims().size() - 2], columns = x.dims().back();
  return dispatchStorage(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(x.type(), x.dims()));
    const auto from = elementsOf<T>(x);
    const auto to = builder.elements();
    for (std::int64_t i = 0; i < x.count(); ++i) {
      const std::int64_t distance = i % columns - i / columns % rows;
      if (upper ? distance >= k : distance <= k) to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(i)];
    }
    return Tensors{std::move(builder).finish()};
  });
}

// --- OneHot

Result<Types> inferOneHot(const InferContext& context) {
  const Shape& indices = context.input(0).shape;
  const DataType type = context.input(2).dtype;
  TRY(requireRank(context, 2, 1));
  const Shape& values = context.input(2).shape;
  if (values.ranked) TRY(unified(context, values.dims[0], Dim(2), "the number of values and 2"));
  if (!indices.ranked) return one(type, Shape::unknown());
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), indices.rank() + 1));
  Dim depth;
  if (const Tensor* given = context.constant(1); given != nullptr && given->hasData() && given->count() == 1)
    depth = TRY(checkedExtent(given->asInt64(0), "the depth"));
  Shape result = indices;
  result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  return one(type, std::move(result));
}

Result<Tensors> oneHot(const KernelContext& context) {
  const Tensor &indices = context.input(0), &values = context.input(2);
  const Dims dims = context.outputDims(0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), dims.size()));
  const AxisSplit split = splitAt(dims, axis);
  return dispatchStorage(values.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(values.type(), dims));
    const auto to = builder.elements();
    std::ranges::fill(to, elementsOf<T>(values)[0]);
    for (std::int64_t i = 0; i < indices.count(); ++i) {
      std::int64_t index = indices.asInt64(i);
      if (index < 0) index += split.extent;
      if (index < 0 || index >= split.extent) continue;  // outside: all elements are off
      const std::int64_t at = (i / split.inner * split.extent + index) * split.inner + i % split.inner;
      to[static_cast<std::size_t>(at)] = elementsOf<T>(values)[1];
    }
    return Tensors{std::move(builder).finish()};
  });
}

// --- ReverseSequence

Result<Types> inferReverseSequence(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 2));
  TRY(requireRank(context, 1, 1));
  const std::int64_t batch = context.node().intAttribute("batch_axis", 1),
                     time = context.node().intAttribute("time_axis", 0);
  if (batch + time != 1 || batch * time != 0)
    return attributeProblem("batch_axis", "must be 0 if time_axis is 1, and 1 if time_axis is 0");
  const Shape &x = context.input(0).shape, &lengths = context.input(1).shape;
  if (x.ranked && lengths.ranked)
    TRY(unified(context, x.dims[static_cast<std::size_t>(batch)], lengths.dims[0],
                "the batch size and the number of lengths"));
  return inferLikeFirst(context);
}

Result<Tensors> reverseSequence(const KernelContext& context) {
  const Tensor &x = context.input(0), &lengths = context.input(1);
  const bool batchFirst = context.node().intAttribute("batch_axis", 1) == 0;
  const std::int64_t batches = x.dims()[batchFirst ? 0 : 1], times = x.dims()[batchFirst ? 1 : 0];
  const std::int64_t run = batches * times == 0 ? 0 : x.count() / batches / times;
  for (std::int64_t b = 0; b < batches; ++b)
    if (lengths.asInt64(b) < 0 || lengths.asInt64(b) > times)
      return problem(fmt::format("a sequence length is {}, expected 0 to {}", lengths.asInt64(b), times));
  return dispatchStorage(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(x.type(), x.dims()));
    const T* from = elementsOf<T>(x).data();
    T* to = builder.elements().data();
    const auto offset = [&](std::int64_t b, std::int64_t t) {
      return (batchFirst ? b * times + t : t * batches + b) * run;
    };
    for (std::int64_t b = 0; b < batches; ++b) {
      for (std::int64_t t = 0; t < times; ++t) {
        const T* source = from + offset(b, t < lengths.asInt64(b) ? lengths.asInt64(b) - 1 - t : t);
        std::copy(source, source + run, to + offset(b, t));
      }
    }
    return Tensors{std::move(builder).finish()};
  });
}

}  // namespace

void registerRearrange(OpRegistry& registry) {
  const OpSignature any{"T", {{'T', kAnyType}}};
  registry.add(movementSchema("DepthToSpace", 1, 1, inferDepthToSpace, depthToSpace, any));
  registry.add({.op = "EyeLike",
                .kind = OpKind::Shape,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferEyeLike,
                .kernel = eyeLike});
  registry.add(movementSchema("OneHot", 3, 3, inferOneHot, oneHot,
                              {"IDT", {{'I', kNumberTypes}, {'D', kNumberTypes}, {'T', kAnyType}}}));
  registry.add(movementSchema("ReverseSequence", 2, 2, inferReverseSequence, reverseSequence,
                              {"TI", {{'T', kAnyType}, {'I', kInt64Type}}}));
  registry.add(movementSchema("SpaceToDepth", 1, 1, inferSpaceToDepth, spaceToDepth, any));
  registry.add(movementSchema("Trilu", 1, 2, inferTrilu, trilu, {"TI", {{'T', kAnyType}, {'I', kInt64Type}}}));
}

}  // namespace fusescope::ops
