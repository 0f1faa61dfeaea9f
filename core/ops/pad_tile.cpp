// Tensors that are extended or cropped at their edges, or repeated.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/support/extent_arithmetic.h"
#include "ops/support/infer_support.h"
#include "ops/support/mapped_axes.h"
#include "ops/support/movement_schema.h"

namespace fusescope::ops {
namespace {

/// What a Pad adds before and after each axis; it removes elements if the number is negative.
struct Padding {
  Dims before, after;
};

Result<Padding> paddingOf(const Ints& pads, const std::optional<Ints>& axes, std::size_t rank) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < rank && !axes; ++i) which.push_back(i);
  if (axes) which = TRY(normalizedAxes(*axes, rank));
  if (pads.size() != 2 * which.size())
    return problem(fmt::format("'pads' has {} entries, expected {}", pads.size(), 2 * which.size()));
  Padding padding{Dims(rank, 0), Dims(rank, 0)};
  for (std::size_t i = 0; i < which.size(); ++i) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    for (const std::int64_t pad : {pads[i], pads[i + which.size()]})
      if (pad > kMost || pad < -kMost) return problem(fmt::format("'pads' contains {}, which is out of range", pad));
    padding.before[which[i]] = pads[i];
    padding.after[which[i]] = pads[i + which.size()];
  }
  return padding;
}

Result<Types> inferPad(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "mode", "constant", {"constant", "edge", "reflect", "wrap"}));
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  const auto pads = knownInts(context, 1), axes = knownInts(context, 3);
  if (!pads || (context.hasInput(3) && !axes)) return one(x.dtype, unknownOfRank(x.shape.rank()));
  const Padding padding = TRY(paddingOf(*pads, axes, x.shape.rank()));
  Shape result = x.shape;
  for (std::size_t i = 0; i < result.rank(); ++i) {
    const std::int64_t change = padding.before[i] + padding.after[i];
    Dim& dim = result.dims[i];
    if (dim.known())
      dim = TRY(checkedExtent(dim.size + change, fmt::format("the padded extent of axis {}", i)));
    else
      dim = scaledExtent(dim, 1, change);
  }
  return one(x.dtype, std::move(result));
}

/// Returns the index on an axis of extent `n` from which index `at`, which may be outside, gets its element; -1 for the
/// fill.
std::int64_t paddedFrom(std::int64_t at, std::int64_t n, const std::string& mode) {
  if (at >= 0 && at < n) return at;
  if (mode == "constant") return -1;
  if (mode == "edge" || n == 1) return at < 0 ? 0 : n - 1;
  if (mode == "wrap") return (at % n + n) % n;
  const std::int64_t period = 2 * (n - 1), phase = (at % period + period) % period;
  return phase < n ? phase : period - phase;
}

Result<Tensors> pad(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const std::string mode = context.node().textAttribute("mode", "constant");
  const auto axes = context.hasInput(3) ? std::optional(int64Values(context.input(3))) : std::nullopt;
  const Padding padding = TRY(paddingOf(int64Values(context.input(1)), axes, x.dims().size()));
  if (context.hasInput(2) && context.input(2).count() != 1)
    return problem("the constant value must be a single number");
  const Dims dims = context.outputDims(0);
  std::vector<Dims> maps(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (x.dims()[i] == 0 && dims[i] > 0 && mode != "constant")
      return problem("an empty axis has no elements to pad with");
    for (std::int64_t k = 0; k < dims[i]; ++k) maps[i].push_back(paddedFrom(k - padding.before[i], x.dims()[i], mode));
  }
  return gatherMapped(x, dims, maps, context.hasInput(2) ? &context.input(2) : nullptr);
}

Result<Types> inferTile(const InferContext& context) {
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  const auto repeats = knownInts(context, 1);
  if (!repeats) return one(x.dtype, unknownOfRank(x.shape.rank()));
  if (repeats->size() != x.shape.rank())
    return problem(fmt::format("'repeats' has {} entries, expected {}", repeats->size(), x.shape.rank()));
  Shape result = x.shape;
  for (std::size_t i = 0; i < result.rank(); ++i) {
    const std::int64_t times = (*repeats)[i];
    if (times < 0) return problem(fmt::format("'repeats' contains {}, but it must not be negative", times));
    std::int64_t extent = 0;
    if (result.dims[i].known() && __builtin_mul_overflow(result.dims[i].size, times, &extent))
      return problem("the extents of the result are too large");
    if (times != 1) result.dims[i] = result.dims[i].known() ? Dim(extent) : scaledExtent(result.dims[i], times);
  }
  return one(x.dtype, std::move(result));
}

Result<Tensors> tile(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const Dims dims = context.outputDims(0);
  std::vector<Dims> maps(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    for (std::int64_t k = 0; k < dims[i]; ++k) maps[i].push_back(k % x.dims()[i]);
  return gatherMapped(x, dims, maps, nullptr);
}

Result<Types> inferCenterCropPad(const InferContext& context) {
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < x.shape.rank() && !context.node().hasAttribute("axes"); ++i) axes.push_back(i);
  if (context.node().hasAttribute("axes"))
    axes = TRY(normalizedAxes(context.node().intsAttribute("axes"), x.shape.rank()));
  const auto wanted = knownInts(context, 1);
  if (wanted && wanted->size() != axes.size())
    return problem(fmt::format("the shape has {} entries, expected {}", wanted->size(), axes.size()));
  Shape result = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i)
    result.dims[axes[i]] = wanted ? TRY(checkedExtent((*wanted)[i], "an entry of the shape")) : Dim();
  return one(x.dtype, std::move(result));
}

Result<Tensors> centerCropPad(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const Dims dims = context.outputDims(0);
  std::vector<Dims> maps(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t n = x.dims()[i];
    const std::int64_t shift = dims[i] >= n ? -((dims[i] - n) / 2) : (n - dims[i]) / 2;
    for (std::int64_t k = 0; k < dims[i]; ++k) maps[i].push_back(k + shift >= 0 && k + shift < n ? k + shift : -1);
  }
  return gatherMapped(x, dims, maps, nullptr);
}

}  // namespace

void registerPadTile(OpRegistry& registry) {
  const OpSignature withIndices{"TI", {{'T', kAnyType}, {'I', kIndexTypes}}};
  const OpSignature withPads{"TPTI", {{'T', kAnyType}, {'P', kInt64Type}, {'I', kIndexTypes}}};
  const OpSignature withRepeats{"TI", {{'T', kAnyType}, {'I', kInt64Type}}};
  registry.add(movementSchema("CenterCropPad", 2, 2, inferCenterCropPad, centerCropPad, withIndices));
  registry.add(movementSchema("Pad", 2, 4, inferPad, pad, withPads));
  registry.add(movementSchema("Tile", 2, 2, inferTile, tile, withRepeats));
}

}  // namespace fusescope::ops
