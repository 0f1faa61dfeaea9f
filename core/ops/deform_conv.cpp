// A convolution whose taps are moved by offsets, which are an input, and weighted by a mask.
#include <fmt/format.h>

#include <cmath>

#include "ops/families.h"
#include "ops/support/filter_flops.h"
#include "ops/support/kernel_support.h"
#include "ops/support/multiply.h"
#include "ops/support/require_extents.h"
#include "ops/support/strided.h"
#include "ops/support/window.h"

namespace fusescope::ops {
namespace {

struct Groups {
  std::int64_t group = 1, offset = 1;
};

Result<Groups> readGroups(const InferContext& context) {
  const Groups groups{context.node().intAttribute("group", 1), context.node().intAttribute("offset_group", 1)};
  const Dim channels = extentOf(context, 0, 1), outputs = extentOf(context, 1, 0), each = extentOf(context, 1, 1);
  if (groups.group < 1 || (channels.known() && channels.size % groups.group != 0) ||
      (outputs.known() && outputs.size % groups.group != 0))
    return attributeProblem("group",
                            fmt::format("{} does not divide the numbers of input and output channels", groups.group));
  if (groups.offset < 1 || (channels.known() && channels.size % groups.offset != 0))
    return attributeProblem("offset_group",
                            fmt::format("{} does not divide the number of input channels", groups.offset));
  if (channels.known() && each.known() && channels.size / groups.group != each.size)
    return problem(fmt::format("the weight expects {} input channels in each group, but the input has {}", each.size,
                               channels.size / groups.group));
  return groups;
}

/// Reads the window from the weight's extents and the attributes.
Result<Window> readWindow(const Node& node, const Dims& weight) {
  for (const std::int64_t extent : weight)
    if (extent < 1) return problem("the kernel is empty");
  return Window::read(node, weight.size() - 2, Dims(weight.begin() + 2, weight.end()));
}

Result<Types> inferDeformConv(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 3));
  TRY(requireRankAtLeast(context, 1, 3));
  const TensorType &x = context.input(0), &w = context.input(1);
  if (!x.shape.ranked || !w.shape.ranked) return one(x.dtype, Shape::unknown());
  TRY(requireRank(context, 1, x.shape.rank()));
  const Groups groups = TRY(readGroups(context));
  std::vector<Dim> dims{x.shape.dims[0], w.shape.dims[0]};
  const auto weight = w.shape.fixed();
  if (!weight) {
    dims.resize(x.shape.rank());
    return one(x.dtype, Shape::of(std::move(dims)));
  }
  const Window window = TRY(readWindow(context.node(), *weight));
  for (std::size_t i = 0; i < window.kernel.size(); ++i)
    dims.push_back(TRY(window.outputDim(context, i, x.shape.dims[2 + i])));
  const auto taps = elementCount(window.kernel);
  if (!taps || *taps > (1 << 30) / std::ssize(window.kernel) || groups.offset > (1 << 30))
    return problem("the kernel has too many elements");
  std::vector<Dim> offsets = dims, mask = dims;
  offsets[1] = Dim(groups.offset * *taps * std::ssize(window.kernel));
  mask[1] = Dim(groups.offset * *taps);
  TRY(requireExtents(context, 2, "offset", offsets));
  TRY(requireExtents(context, 3, "B", {w.shape.dims[0]}));
  TRY(requireExtents(context, 4, "mask", mask));
  return one(x.dtype, Shape::of(std::move(dims)));
}

/// Elements of a plane and their weights.
using Corners = std::vector<std::pair<std::int64_t, double>>;

/// Finds the elements around a place for linear interpolation. Elements outside the plane are 0 and are left out.
void findCorners(const Dims& dims, const std::vector<double>& place, Corners& corners) {
  corners.clear();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!(place[i] > -1 && place[i] < static_cast<double>(dims[i]))) return;
  for (std::size_t corner = 0; corner < (std::size_t{1} << dims.size()); ++corner) {
    double weight = 1;
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const bool upper = (corner >> i & 1) != 0;
      const double base = std::floor(place[i]), fraction = place[i] - base;
      const std::int64_t at = static_cast<std::int64_t>(base) + (upper ? 1 : 0);
      weight *= upper ? fraction : 1 - fraction;
      inside = inside && at >= 0 && at < dims[i];
      offset = offset * dims[i] + at;
    }
    if (inside) corners.emplace_back(offset, weight);
  }
}

/// Fills columns[channel, tap, position] with what each tap of each channel of image `n` reads.
template <class T>
std::vector<T> deformedColumns(const KernelContext& context, const Window& window, std::int64_t n) {
  const Tensor &x = context.input(0), &offsets = context.input(2);
  const Dims y = context.outputDims(0);
  const Dims in(x.dims().begin() + 2, x.dims().end()), out(y.begin() + 2, y.end());
  const std::int64_t channels = x.dims()[1], area = elementCount(in).value(), positions = elementCount(out).value();
  const std::int64_t taps = elementCount(window.kernel).value(), rank = std::ssize(in);
  const std::int64_t groups = context.node().intAttribute("offset_group", 1), perGroup = channels / groups;
  std::vector<T> columns(static_cast<std::size_t>(channels * taps * positions));
  std::vector<double> place(in.size());
  Corners corners;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t first = (n * groups + group) * taps;  // the first tap of the group
    std::int64_t tap = 0;
    forEachIndex(window.kernel, [&](const Dims& tapIndex) {
      std::int64_t position = 0;
      forEachIndex(out, [&](const Dims& at) {
        for (std::size_t i = 0; i < in.size(); ++i) {
          const std::int64_t row = (first + tap) * rank + static_cast<std::int64_t>(i);
          place[i] =
              static_cast<double>(at[i] * window.strides[i] + tapIndex[i] * window.dilations[i] - window.padBegin[i]) +
              offsets.asDouble(row * positions + position);
        }
        const double mask = context.hasInput(4) ? context.input(4).asDouble((first + tap) * positions + position) : 1;
        findCorners(in, place, corners);
        for (std::int64_t c = group * perGroup; c < (group + 1) * perGroup; ++c) {
          const T* plane = x.data<T>().data() + (n * channels + c) * area;
          double sum = 0;
          for (const auto& [offset, share] : corners) sum += share * static_cast<double>(plane[offset]);
          columns[static_cast<std::size_t>((c * taps + tap) * positions + position)] = static_cast<T>(mask * sum);
        }
        ++position;
        return true;
      });
      ++tap;
      return true;
    });
  }
  return columns;
}

template <class T>
Result<Tensors> deformConvAs(const KernelContext& context) {
  const Tensor& weight = context.input(1);
  if (weight.dims().size() > 12) return problem("there are too many spatial axes");
  Tensor result = TRY(allocateOutput(context));
  const Window window = TRY(readWindow(context.node(), weight.dims()));
  if (result.count() == 0) return Tensors{std::move(result)};
  const std::int64_t groups = context.node().intAttribute("group", 1);
  const std::int64_t channels = result.dims()[1], rows = channels / groups;
  const std::int64_t positions = result.count() / result.dims()[0] / channels, depth = weight.count() / channels;
  for (std::int64_t n = 0; n < result.dims()[0]; ++n) {
    const std::vector<T> columns = deformedColumns<T>(context, window, n);
    T* image = result.mutableData<T>().data() + n * channels * positions;
    for (std::int64_t g = 0; g < groups; ++g)
      multiply(weight.data<T>().data() + g * rows * depth, columns.data() + g * depth * positions,
               image + g * rows * positions, rows, depth, positions);
    for (std::int64_t k = 0; context.hasInput(3) && k < channels * positions; ++k)
      image[k] += context.input(3).data<T>()[static_cast<std::size_t>(k / positions)];
  }
  return Tensors{std::move(result)};
}

}  // namespace

void registerDeformConv(OpRegistry& registry) {
  registry.add({.op = "DeformConv",
                .kind = OpKind::Other,
                .minInputs = 3,
                .maxInputs = 5,
                .infer = inferDeformConv,
                .kernel = FUSESCOPE_FLOAT_KERNEL(deformConvAs<T>(context)),
                .flops = flopsOfFilters(1),
                .signature = {"T", {{'T', kWideFloatTypes}}}});
}

}  // namespace fusescope::ops
