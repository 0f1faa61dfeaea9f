// Regions of an image that are pooled to a fixed size: RoiAlign and MaxRoiPool.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/support/extremes.h"
#include "ops/support/kernel_support.h"
#include "ops/support/region_sampling.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

constexpr std::int64_t kMostSamplesOfBin = 1 << 11;  ///< along one side of a bin

Result<Types> pooledRegions(const InferContext& context, std::int64_t numbers, std::int64_t height,
                            std::int64_t width) {
  TRY(requireRank(context, 0, 4));
  TRY(requireRank(context, 1, 2));
  TRY(requireExtents(context, 1, "rois", {Dim(), Dim(numbers)}));
  return one(context.input(0).dtype,
             Shape::of({extentOf(context, 1, 0), extentOf(context, 0, 1), Dim(height), Dim(width)}));
}

Result<std::int64_t> positive(const Node& node, const std::string& key, std::int64_t otherwise) {
  const std::int64_t value = node.intAttribute(key, otherwise);
  if (value < 1) return attributeProblem(key, fmt::format("is {}, expected at least 1", value));
  return value;
}

Status checkScale(const Node& node) {
  const float scale = node.floatAttribute("spatial_scale", 1.0F);
  if (std::isfinite(scale) && scale > 0) return Done{};
  return attributeProblem("spatial_scale", fmt::format("is {}, expected a positive number", scale));
}

// --- RoiAlign

Result<Types> inferRoiAlign(const InferContext& context) {
  const Node& node = context.node();
  TRY(choiceAttribute(node, "coordinate_transformation_mode", "half_pixel", {"half_pixel", "output_half_pixel"}));
  TRY(choiceAttribute(node, "mode", "avg", {"avg", "max"}));
  TRY(checkScale(node));
  const std::int64_t samples = node.intAttribute("sampling_ratio", 0);
  if (samples < 0 || samples > kMostSamplesOfBin)
    return attributeProblem("sampling_ratio", fmt::format("is {}, expected 0 to {}", samples, kMostSamplesOfBin));
  const std::int64_t height = TRY(positive(node, "output_height", 1)), width = TRY(positive(node, "output_width", 1));
  Types types = TRY(pooledRegions(context, 4, height, width));
  TRY(requireExtents(context, 2, "batch_indices", {extentOf(context, 1, 0)}));
  return types;
}

template <class T>
Result<Tensors> roiAlignAs(const KernelContext& context) {
  const RoiAlignForm form = RoiAlignForm::of(context.node());
  const Tensor &x = context.input(0), &rois = context.input(1);
  Tensor result = TRY(allocateOutput(context));
  const std::int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  const std::int64_t bins = result.dims()[2] * result.dims()[3];
  if (height * width == 0 && result.count() > 0) return problem("the image has no pixels");
  T* to = result.mutableData<T>().data();
  for (std::int64_t r = 0; r < result.dims()[0]; ++r) {
    const std::int64_t image = TRY(imageOfRegion(context.input(2).asDouble(r), x.dims()[0]));
    const double region[4] = {rois.asDouble(r * 4), rois.asDouble(r * 4 + 1), rois.asDouble(r * 4 + 2),
                              rois.asDouble(r * 4 + 3)};
    const RegionSamples of = TRY(regionSamples(form, region, result.dims()[2], result.dims()[3], height, width));
    for (std::int64_t c = 0; c < channels; ++c) {
      const T* plane = x.data<T>().data() + (image * channels + c) * height * width;
      for (std::int64_t bin = 0; bin < bins; ++bin)
        *to++ = static_cast<T>(
            pooledBin(plane, of.samples.data() + static_cast<std::size_t>(bin) * of.perBin, of.perBin, form.largest));
    }
  }
  return Tensors{std::move(result)};
}

// --- MaxRoiPool

Result<Types> inferMaxRoiPool(const InferContext& context) {
  const Dims pooled = context.node().intsAttribute("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    return attributeProblem("pooled_shape", "must be given as a height and a width, both positive");
  TRY(checkScale(context.node()));
  return pooledRegions(context, 5, pooled[0], pooled[1]);
}

/// Returns the pixels of bin `index` of `bins` along an axis, for a region from `from` to `to` (whole pixels, both
/// inclusive).
std::pair<std::int64_t, std::int64_t> binPixels(double from, double to, std::int64_t bins, std::int64_t index,
                                                std::int64_t extent) {
  const double bin = std::max(to - from + 1, 1.0) / static_cast<double>(bins);
  const auto pixel = [&](double place) {
    return static_cast<std::int64_t>(std::clamp(place + from, 0.0, static_cast<double>(extent)));
  };
  return {pixel(std::floor(static_cast<double>(index) * bin)), pixel(std::ceil(static_cast<double>(index + 1) * bin))};
}

/// A bin without pixels gives 0.
template <class T>
T largestPixel(const T* plane, std::int64_t width, std::pair<std::int64_t, std::int64_t> rows,
               std::pair<std::int64_t, std::int64_t> columns) {
  if (rows.first >= rows.second || columns.first >= columns.second) return T(0);
  T most = plane[rows.first * width + columns.first];
  for (std::int64_t y = rows.first; y < rows.second; ++y)
    for (std::int64_t x = columns.first; x < columns.second; ++x) most = largerOf(most, plane[y * width + x]);
  return most;
}

template <class T>
Result<Tensors> maxRoiPoolAs(const KernelContext& context) {
  const Tensor &x = context.input(0), &rois = context.input(1);
  Tensor result = TRY(allocateOutput(context));
  const auto scale = static_cast<T>(context.node().floatAttribute("spatial_scale", 1.0F));
  const std::int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  T* to = result.mutableData<T>().data();
  for (std::int64_t r = 0; r < result.dims()[0]; ++r) {
    const std::int64_t image = TRY(imageOfRegion(rois.asDouble(r * 5), x.dims()[0]));
    double edges[4];
    for (std::int64_t k = 0; k < 4; ++k)
      edges[k] = std::round(rois.data<T>()[static_cast<std::size_t>(r * 5 + 1 + k)] * scale);
    if (!std::ranges::all_of(edges, [](double edge) { return std::isfinite(edge); }))
      return problem(fmt::format("region {} has coordinates that are not finite numbers", r));
    for (std::int64_t c = 0; c < channels; ++c) {
      const T* plane = x.data<T>().data() + (image * channels + c) * height * width;
      for (std::int64_t i = 0; i < result.dims()[2]; ++i)
        for (std::int64_t k = 0; k < result.dims()[3]; ++k)
          *to++ = largestPixel(plane, width, binPixels(edges[1], edges[3], result.dims()[2], i, height),
                               binPixels(edges[0], edges[2], result.dims()[3], k, width));
    }
  }
  return Tensors{std::move(result)};
}

}  // namespace

void registerRegionPooling(OpRegistry& registry) {
  registry.add({.op = "MaxRoiPool",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferMaxRoiPool,
                .kernel = FUSESCOPE_FLOAT_KERNEL(maxRoiPoolAs<T>(context)),
                .signature = {"T", {{'T', kWideFloatTypes}}}});
  registry.add({.op = "RoiAlign",
                .kind = OpKind::Other,
                .minInputs = 3,
                .maxInputs = 3,
                .infer = inferRoiAlign,
                .kernel = FUSESCOPE_FLOAT_KERNEL(roiAlignAs<T>(context)),
                .signature = {"TTI", {{'T', kWideFloatTypes}, {'I', kInt64Type}}}});
}

}  // namespace fusescope::ops
