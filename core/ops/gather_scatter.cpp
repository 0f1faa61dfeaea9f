// Elements that are moved to and from indices.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/extremes.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

// --- Gather

Result<Types> inferGather(const InferContext& context) {
  const TensorType& data = context.input(0);
  const Shape& indices = context.input(1).shape;
  TRY(requireRankAtLeast(context, 0, 1));
  if (!data.shape.ranked) return one(data.dtype, Shape::unknown());
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), data.shape.rank()));
  if (!indices.ranked) return one(data.dtype, Shape::unknown());
  std::vector<Dim> dims = data.shape.dims;
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(at, indices.dims.begin(), indices.dims.end());
  return one(data.dtype, Shape::of(std::move(dims)));
}

Result<Tensors> gather(const KernelContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), data.dims().size()));
  const AxisSplit split = splitAt(data.dims(), axis);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < indices.count(); ++i)
    places.push_back(TRY(checkedIndex(indices.asInt64(i), split.extent)));
  return dispatchStorage(data.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(data.type(), context.outputDims(0)));
    T* to = builder.elements().data();
    const T* from = elementsOf<T>(data).data();
    for (std::int64_t o = 0; o < split.outer; ++o) {
      for (const std::int64_t place : places) {
        const T* start = from + (o * split.extent + place) * split.inner;
        to = std::copy(start, start + split.inner, to);
      }
    }
    return Tensors{std::move(builder).finish()};
  });
}

// --- GatherElements and ScatterElements

/// The ranks of data and indices must be equal, and except along the axis, indices must not be larger than data.
Status checkElementwiseIndices(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 1));
  const Shape &data = context.input(0).shape, &indices = context.input(1).shape;
  if (!data.ranked) return Done{};
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), data.rank()));
  TRY(requireRank(context, 1, data.rank()));
  for (std::size_t i = 0; indices.ranked && i < data.rank(); ++i)
    if (i != axis && data.dims[i].known() && indices.dims[i].known() && indices.dims[i].size > data.dims[i].size)
      return problem(fmt::format("the indices have extent {} along axis {}, but the data has extent {}",
                                 indices.dims[i].size, i, data.dims[i].size));
  return Done{};
}

Result<Types> inferGatherElements(const InferContext& context) {
  TRY(checkElementwiseIndices(context));
  return one(context.input(0).dtype, context.input(1).shape);
}

/// Returns the offset in data for each element of `indices`, in order.
Result<std::vector<std::int64_t>> elementOffsets(const Tensor& data, const Tensor& indices, std::size_t axis) {
  const Dims strides = denseStrides(data.dims());
  std::vector<std::int64_t> offsets;
  offsets.reserve(static_cast<std::size_t>(indices.count()));
  std::optional<Diagnostic> error;
  forEachIndex(indices.dims(), [&](const Dims& index) {
    const auto place = checkedIndex(indices.asInt64(static_cast<std::int64_t>(offsets.size())), data.dims()[axis]);
    if (!place.ok()) {
      error = place.error();
      return false;
    }
    offsets.push_back(offsetOf(index, strides) + (place.value() - index[axis]) * strides[axis]);
    return true;
  });
  if (error) return *error;
  return offsets;
}

Result<Tensors> gatherElements(const KernelContext& context) {
  const Tensor& data = context.input(0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), data.dims().size()));
  const auto offsets = TRY(elementOffsets(data, context.input(1), axis));
  return dispatchStorage(data.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(data.type(), context.outputDims(0)));
    const auto from = elementsOf<T>(data);
    std::ranges::transform(offsets, builder.elements().begin(),
                           [&](std::int64_t at) { return from[static_cast<std::size_t>(at)]; });
    return Tensors{std::move(builder).finish()};
  });
}

Result<Types> inferScatter(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "reduction", "none", {"none", "add", "mul", "max", "min"}));
  return inferLikeFirst(context);
}

Result<Types> inferScatterElements(const InferContext& context) {
  TRY(checkElementwiseIndices(context));
  const Shape &indices = context.input(1).shape, &updates = context.input(2).shape;
  if (indices.ranked) TRY(requireRank(context, 2, indices.rank()));
  for (std::size_t i = 0; indices.ranked && updates.ranked && i < indices.rank(); ++i)
    TRY(unified(context, indices.dims[i], updates.dims[i], "the extents of indices and updates"));
  return inferScatter(context);
}

template <class T>
T combined(const std::string& reduction, T old, T update) {
  if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, Bits128>) {
    if (reduction == "add") return static_cast<T>(old + update);
    if (reduction == "mul") return static_cast<T>(old * update);
    if (reduction == "max") return largerOf(old, update);
    if (reduction == "min") return smallerOf(old, update);
  }
  return update;
}

/// Writes runs of `run` elements of `updates` to `offsets` of a copy of the data, one after the other.
template <class T>
Result<Tensors> scatterRuns(const KernelContext& context, const std::vector<std::int64_t>& offsets, std::int64_t run) {
  const Tensor& data = context.input(0);
  const std::string reduction = context.node().textAttribute("reduction", "none");
  auto builder = TRY(Builder<T>::create(data.type(), data.dims()));
  const auto to = builder.elements();
  std::ranges::copy(elementsOf<T>(data), to.begin());
  const T* update = elementsOf<T>(context.input(2)).data();
  for (const std::int64_t offset : offsets)
    for (std::int64_t k = 0; k < run; ++k) {
      T& place = to[static_cast<std::size_t>(offset + k)];
      place = combined(reduction, place, *update++);
    }
  return Tensors{std::move(builder).finish()};
}

Result<Tensors> scatterAt(const KernelContext& context, const std::vector<std::int64_t>& offsets, std::int64_t run) {
  if (context.node().textAttribute("reduction", "none") == "none")
    return dispatchStorage(context.outputType(0),
                           [&]<class T>(std::type_identity<T>) { return scatterRuns<T>(context, offsets, run); });
  if (!kNumberTypes.contains(context.outputType(0)))
    return attributeProblem("reduction",
                            fmt::format("elements of type {} cannot be combined", name(context.outputType(0))));
  return dispatchNumber(context.outputType(0),
                        [&]<class T>(std::type_identity<T>) { return scatterRuns<T>(context, offsets, run); });
}

Result<Tensors> scatterElements(const KernelContext& context) {
  const Tensor& data = context.input(0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), data.dims().size()));
  return scatterAt(context, TRY(elementOffsets(data, context.input(1), axis)), 1);
}

// --- GatherND and ScatterND

Result<Types> inferGatherND(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 1));
  TRY(requireRankAtLeast(context, 1, 1));
  const Shape &data = context.input(0).shape, &indices = context.input(1).shape;
  const DataType type = context.input(0).dtype;
  const std::int64_t batch = context.node().intAttribute("batch_dims", 0);
  if (batch < 0) return attributeProblem("batch_dims", fmt::format("{} is negative", batch));
  if (!data.ranked || !indices.ranked) return one(type, Shape::unknown());
  const auto from = static_cast<std::size_t>(batch);
  if (from >= data.rank() || from >= indices.rank())
    return attributeProblem(
        "batch_dims", fmt::format("is {}, but it must be less than the ranks {} and {} of data and indices", batch,
                                  data.rank(), indices.rank()));
  if (!indices.dims.back().known()) return one(type, Shape::unknown());
  const std::int64_t depth = indices.dims.back().size;
  if (depth < 1 || depth > static_cast<std::int64_t>(data.rank() - from))
    return problem(
        fmt::format("an index has {} numbers, but the data has {} axes to index", depth, data.rank() - from));
  std::vector<Dim> dims;
  for (std::size_t i = 0; i + 1 < indices.rank(); ++i)
    dims.push_back(i < from
                       ? TRY(unified(context, data.dims[i], indices.dims[i], "the batch extents of data and indices"))
                       : indices.dims[i]);
  dims.insert(dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(from) + depth, data.dims.end());
  return one(type, Shape::of(std::move(dims)));
}

/// Returns where each index points, as offsets in data; the first `batch` axes of data are also those of the indices.
Result<std::vector<std::int64_t>> pointedAt(const Dims& data, const Tensor& indices, std::size_t batch) {
  const std::int64_t depth = indices.dims().back();
  const Dims strides = denseStrides(data);
  std::int64_t batches = 1;
  for (std::size_t i = 0; i < batch; ++i) batches *= data[i];
  const std::int64_t count = depth == 0 ? 0 : indices.count() / depth;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = batch == 0 ? 0 : i / (count / batches) * strides[batch - 1];
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::size_t axis = batch + static_cast<std::size_t>(k);
      offset += TRY(checkedIndex(indices.asInt64(i * depth + k), data[axis])) * strides[axis];
    }
    offsets.push_back(offset);
  }
  return offsets;
}

std::int64_t runLength(const Dims& data, std::size_t indexed) {
  return elementCount(Dims(data.begin() + static_cast<std::ptrdiff_t>(indexed), data.end())).value();
}

Result<Tensors> gatherND(const KernelContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1);
  const auto batch = static_cast<std::size_t>(context.node().intAttribute("batch_dims", 0));
  const auto offsets = TRY(pointedAt(data.dims(), indices, batch));
  const std::int64_t run = runLength(data.dims(), batch + static_cast<std::size_t>(indices.dims().back()));
  return dispatchStorage(data.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(data.type(), context.outputDims(0)));
    T* to = builder.elements().data();
    const T* from = elementsOf<T>(data).data();
    for (const std::int64_t offset : offsets) to = std::copy(from + offset, from + offset + run, to);
    return Tensors{std::move(builder).finish()};
  });
}

Result<Types> inferScatterND(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 1));
  TRY(requireRankAtLeast(context, 1, 1));
  const Shape &data = context.input(0).shape, &indices = context.input(1).shape, &updates = context.input(2).shape;
  if (data.ranked && indices.ranked && indices.dims.back().known()) {
    const std::int64_t depth = indices.dims.back().size;
    if (depth < 1 || depth > static_cast<std::int64_t>(data.rank()))
      return problem(fmt::format("an index has {} numbers, but the data has rank {}", depth, data.rank()));
    std::vector<Dim> expected(indices.dims.begin(), indices.dims.end() - 1);
    expected.insert(expected.end(), data.dims.begin() + depth, data.dims.end());
    TRY(requireRank(context, 2, expected.size()));
    for (std::size_t i = 0; updates.ranked && i < expected.size(); ++i)
      TRY(unified(context, expected[i], updates.dims[i],
                  fmt::format("the extents of the updates and of the updated part along axis {}", i)));
  }
  return inferScatter(context);
}

Result<Tensors> scatterND(const KernelContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1);
  const auto offsets = TRY(pointedAt(data.dims(), indices, 0));
  return scatterAt(context, offsets, runLength(data.dims(), static_cast<std::size_t>(indices.dims().back())));
}

/// Bytes that are only moved need no conversion; numbers that are combined do.
KernelFunction moving(KernelFunction kernel) {
  return [plain = unpacked(kernel), wide = widened(kernel)](const KernelContext& context) {
    return context.node().textAttribute("reduction", "none") == "none" ? plain(context) : wide(context);
  };
}

OpSchema indexed(std::string op, int inputs, InferFunction infer, KernelFunction kernel, OpSignature signature) {
  return {.op = std::move(op),
          .kind = OpKind::Movement,
          .minInputs = inputs,
          .maxInputs = inputs,
          .infer = std::move(infer),
          .kernel = moving(std::move(kernel)),
          .signature = std::move(signature)};
}

}  // namespace

void registerGatherScatter(OpRegistry& registry) {
  const OpSignature gathers{"TI", {{'T', kAnyType}, {'I', kIndexTypes}}};
  const OpSignature scatters{"TIT", {{'T', kAnyType}, {'I', kIndexTypes}}};
  registry.add(indexed("Gather", 2, inferGather, gather, gathers));
  registry.add(indexed("GatherElements", 2, inferGatherElements, gatherElements, gathers));
  registry.add(indexed("GatherND", 2, inferGatherND, gatherND, gathers));
  registry.add(indexed("Scatter", 3, inferScatterElements, scatterElements, scatters));
  registry.add(indexed("ScatterElements", 3, inferScatterElements, scatterElements, scatters));
  registry.add(indexed("ScatterND", 3, inferScatterND, scatterND, scatters));
}

}  // namespace fusescope::ops
