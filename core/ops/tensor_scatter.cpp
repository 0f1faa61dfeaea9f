// TensorScatter: an update is written into a cache along its sequence axis.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/movement_schema.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

Result<std::size_t> sequenceAxis(const Node& node, std::size_t rank) {
  const std::size_t axis = TRY(normalizedAxis(node.intAttribute("axis", -2), rank));
  if (axis == 0) return attributeProblem("axis", "is the batch axis, which cannot be the sequence axis");
  return axis;
}

Result<Types> inferTensorScatter(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "mode", "linear", {"linear", "circular"}));
  const TensorType& cache = context.input(0);
  if (!cache.shape.ranked) return Types{cache};
  const std::size_t axis = TRY(sequenceAxis(context.node(), cache.shape.rank()));
  TRY(requireRank(context, 1, cache.shape.rank()));
  std::vector<Dim> update = cache.shape.dims;
  update[axis] = extentOf(context, 1, axis);
  TRY(requireExtents(context, 1, "update", update));
  TRY(requireExtents(context, 2, "write_indices", {cache.shape.dims[0]}));
  if (update[axis].known() && cache.shape.dims[axis].known() && update[axis].size > cache.shape.dims[axis].size)
    return problem(fmt::format("the update has extent {} along the axis, but the cache has only {}", update[axis].size,
                               cache.shape.dims[axis].size));
  return Types{cache};
}

/// Returns where the update of each sample of the batch begins.
Result<Ints> writeIndices(const KernelContext& context, std::int64_t length, std::int64_t room, bool circular) {
  Ints starts(static_cast<std::size_t>(context.input(0).dims()[0]), 0);
  if (!context.hasInput(2)) return starts;
  starts = int64Values(context.input(2));
  for (std::int64_t& start : starts) {
    if (start < 0 || (!circular && start > room - length))
      return problem(
          fmt::format("write_indices contains {}, but an update of extent {} does not fit at this position into a "
                      "cache of extent {}",
                      start, length, room));
    if (circular && room > 0) start %= room;
  }
  return starts;
}

Result<Tensors> tensorScatter(const KernelContext& context) {
  const Tensor &cache = context.input(0), &update = context.input(1);
  const std::size_t axis = TRY(sequenceAxis(context.node(), cache.dims().size()));
  const bool circular = context.node().textAttribute("mode", "linear") == "circular";
  const AxisSplit split = splitAt(cache.dims(), axis);
  const std::int64_t length = update.dims()[axis];
  const Ints starts = TRY(writeIndices(context, length, split.extent, circular));
  return dispatchStorage(cache.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(cache.type(), cache.dims()));
    T* to = builder.elements().data();
    const auto old = elementsOf<T>(cache);
    std::copy(old.begin(), old.end(), to);
    const T* from = elementsOf<T>(update).data();
    for (std::int64_t o = 0; o < split.outer; ++o) {
      const std::int64_t start = starts[static_cast<std::size_t>(o / (split.outer / cache.dims()[0]))];
      for (std::int64_t s = 0; s < length; ++s) {
        const std::int64_t place = (start + s) % split.extent;
        std::copy_n(from + (o * length + s) * split.inner, split.inner, to + (o * split.extent + place) * split.inner);
      }
    }
    return Tensors{std::move(builder).finish()};
  });
}

}  // namespace

void registerTensorScatter(OpRegistry& registry) {
  registry.add(movementSchema("TensorScatter", 2, 3, inferTensorScatter, tensorScatter, {"TTI", {{'I', kInt64Type}}}));
}

}  // namespace fusescope::ops
