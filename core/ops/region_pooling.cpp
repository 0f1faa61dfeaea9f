// Regions of an image pooled to a fixed size: RoiAlign and MaxRoiPool.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

// More samples than this along one side of a bin come from a region that is no region of any image.
constexpr double kMostSamples = 1 << 11;

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

Result<std::int64_t> imageIndex(double number, std::int64_t images) {
  if (number >= 0 && number < static_cast<double>(images)) return static_cast<std::int64_t>(number);
  return problem(fmt::format("a region is of image {}, but there are {}", number, images));
}

// --- RoiAlign
// ---------------------------------------------------------------------------------------------------------

Result<Types> inferRoiAlign(const InferContext& context) {
  const Node& node = context.node();
  TRY(choiceAttribute(node, "coordinate_transformation_mode", "half_pixel", {"half_pixel", "output_half_pixel"}));
  TRY(choiceAttribute(node, "mode", "avg", {"avg", "max"}));
  TRY(checkScale(node));
  const std::int64_t samples = node.intAttribute("sampling_ratio", 0);
  if (samples < 0 || samples > static_cast<std::int64_t>(kMostSamples))
    return attributeProblem("sampling_ratio", fmt::format("is {}, expected 0 to {}", samples, kMostSamples));
  const std::int64_t height = TRY(positive(node, "output_height", 1)), width = TRY(positive(node, "output_width", 1));
  Types types = TRY(pooledRegions(context, 4, height, width));
  TRY(requireExtents(context, 2, "batch_indices", {extentOf(context, 1, 0)}));
  return types;
}

/// Along one axis: where a region begins, how long its bins are, and how many samples each takes.
struct RegionAxis {
  double start = 0, bin = 0;
  std::int64_t samples = 0;

  static Result<RegionAxis> create(double from, double to, std::int64_t bins, bool halfPixel, std::int64_t ratio) {
    // Without the half-pixel shift a region is at least one pixel long.
    const double length = halfPixel ? to - from : std::max(to - from, 1.0);
    const double bin = length / static_cast<double>(bins);
    if (!std::isfinite(from) || !std::isfinite(bin) || std::fabs(bin) > kMostSamples)
      return problem(fmt::format("a region reaches from {} to {}", from, to));
    const auto samples = ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(bin));
    return RegionAxis{from, bin, std::max<std::int64_t>(samples, 0)};
  }
  double place(std::int64_t binIndex, std::int64_t sample) const {
    return start + static_cast<double>(binIndex) * bin +
           (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
  }
};

/// The four neighbours of a place and their weights, none if the place is more than a pixel outside the image.
struct Neighbours {
  std::int64_t at[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};
};

Neighbours neighboursOf(double y, double x, std::int64_t height, std::int64_t width) {
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return {};
  const auto split = [](double place, std::int64_t extent) {
    const double inside = std::clamp(place, 0.0, static_cast<double>(extent - 1));
    const auto low = static_cast<std::int64_t>(inside);
    return std::tuple(low, std::min(low + 1, extent - 1), inside - static_cast<double>(low));
  };
  const auto [top, bottom, down] = split(y, height);
  const auto [left, right, across] = split(x, width);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across}};
}

/// One bin of one image plane: the mean of the bilinear samples, or the largest weighted neighbour of any (the
/// maximum that ONNX's reference implementation takes: before the four are added up).
template <class T>
double pooledBin(const T* image, const std::vector<Neighbours>& samples, bool largest) {
  double result = 0;
  bool isFirst = true;
  for (const Neighbours& sample : samples) {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < 4; ++k) {
      const double part = sample.weight[k] * static_cast<double>(image[sample.at[k]]);
      sum += part;
      most = std::max(most, part);
    }
    result = !largest ? result + sum : isFirst ? most : std::max(result, most);
    isFirst = false;
  }
  return largest ? result : result / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
}

template <class T>
Result<Tensors> roiAlignAs(const KernelContext& context) {
  const Node& node = context.node();
  const Tensor &x = context.input(0), &rois = context.input(1);
  Tensor result = TRY(allocateOutput(context));
  const std::int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  const std::int64_t binsDown = result.dims()[2], binsAcross = result.dims()[3];
  if (height * width == 0 && result.count() > 0) return problem("the image has no pixels");
  const bool halfPixel = node.textAttribute("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const bool largest = node.textAttribute("mode", "avg") == "max";
  const auto scale = static_cast<double>(node.floatAttribute("spatial_scale", 1.0F));
  const std::int64_t ratio = node.intAttribute("sampling_ratio", 0);
  for (std::int64_t r = 0; r < result.dims()[0]; ++r) {
    const std::int64_t image = TRY(imageIndex(context.input(2).asDouble(r), x.dims()[0]));
    const auto edge = [&](std::int64_t k) { return rois.asDouble(r * 4 + k) * scale - (halfPixel ? 0.5 : 0.0); };
    const RegionAxis down = TRY(RegionAxis::create(edge(1), edge(3), binsDown, halfPixel, ratio));
    const RegionAxis across = TRY(RegionAxis::create(edge(0), edge(2), binsAcross, halfPixel, ratio));
    for (std::int64_t bin = 0; bin < binsDown * binsAcross; ++bin) {
      std::vector<Neighbours> samples;
      for (std::int64_t i = 0; i < down.samples; ++i)
        for (std::int64_t k = 0; k < across.samples; ++k)
          samples.push_back(
              neighboursOf(down.place(bin / binsAcross, i), across.place(bin % binsAcross, k), height, width));
      for (std::int64_t c = 0; c < channels; ++c) {
        const T* plane = x.data<T>().data() + (image * channels + c) * height * width;
        result.mutableData<T>()[static_cast<std::size_t>((r * channels + c) * binsDown * binsAcross + bin)] =
            static_cast<T>(pooledBin(plane, samples, largest));
      }
    }
  }
  return Tensors{std::move(result)};
}

// --- MaxRoiPool
// -------------------------------------------------------------------------------------------------------

Result<Types> inferMaxRoiPool(const InferContext& context) {
  const Dims pooled = context.node().intsAttribute("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    return attributeProblem("pooled_shape", "must be given: height and width, both positive");
  TRY(checkScale(context.node()));
  return pooledRegions(context, 5, pooled[0], pooled[1]);
}

/// The pixels of bin `index` of `bins` along an axis, of a region from `from` to `to` (both whole pixels, inclusive).
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
    for (std::int64_t x = columns.first; x < columns.second; ++x) most = std::max(most, plane[y * width + x]);
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
    const std::int64_t image = TRY(imageIndex(rois.asDouble(r * 5), x.dims()[0]));
    double edges[4];
    for (std::int64_t k = 0; k < 4; ++k)
      edges[k] = std::round(rois.data<T>()[static_cast<std::size_t>(r * 5 + 1 + k)] * scale);
    if (!std::ranges::all_of(edges, [](double edge) { return std::isfinite(edge); }))
      return problem(fmt::format("region {} is not one of finite numbers", r));
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
