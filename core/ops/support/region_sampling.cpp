#include "ops/support/region_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ir/graph.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {

namespace {

// If one side of a bin would need more samples than this, the region is not a region of any image.
constexpr double kMostSamples = 1 << 11;

/// Where a region begins along one axis, the length of its bins, and the number of samples of each.
struct RegionAxis {
  double start = 0, bin = 0;
  std::int64_t samples = 0;

  static Result<RegionAxis> create(double from, double to, std::int64_t bins, const RoiAlignForm& form) {
    // Without the half-pixel shift, a region is at least one pixel long.
    const double length = form.halfPixel ? to - from : std::max(to - from, 1.0);
    const double bin = length / static_cast<double>(bins);
    if (!std::isfinite(from) || !std::isfinite(bin) || std::fabs(bin) > kMostSamples)
      return problem(fmt::format("a region extends from {} to {}, which cannot be sampled", from, to));
    const auto samples = form.samples > 0 ? form.samples : static_cast<std::int64_t>(std::ceil(bin));
    return RegionAxis{from, bin, std::max<std::int64_t>(samples, 0)};
  }
  double place(std::int64_t binIndex, std::int64_t sample) const {
    return start + static_cast<double>(binIndex) * bin +
           (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
  }
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

}  // namespace

RoiAlignForm RoiAlignForm::of(const Node& node) {
  return {.halfPixel = node.textAttribute("coordinate_transformation_mode", "half_pixel") == "half_pixel",
          .largest = node.textAttribute("mode", "avg") == "max",
          .scale = static_cast<double>(node.floatAttribute("spatial_scale", 1.0F)),
          .samples = node.intAttribute("sampling_ratio", 0)};
}

Result<std::int64_t> imageOfRegion(double number, std::int64_t images) {
  if (number >= 0 && number < static_cast<double>(images)) return static_cast<std::int64_t>(number);
  return problem(fmt::format("a region refers to image {}, but the batch has {} images", number, images));
}

Result<RegionSamples> regionSamples(const RoiAlignForm& form, const double (&region)[4], std::int64_t binsDown,
                                    std::int64_t binsAcross, std::int64_t height, std::int64_t width) {
  const auto edge = [&](std::size_t k) { return region[k] * form.scale - (form.halfPixel ? 0.5 : 0.0); };
  const RegionAxis down = TRY(RegionAxis::create(edge(1), edge(3), binsDown, form));
  const RegionAxis across = TRY(RegionAxis::create(edge(0), edge(2), binsAcross, form));
  RegionSamples result{.perBin = static_cast<std::size_t>(down.samples * across.samples), .samples = {}};
  result.samples.reserve(static_cast<std::size_t>(binsDown * binsAcross) * result.perBin);
  for (std::int64_t bin = 0; bin < binsDown * binsAcross; ++bin)
    for (std::int64_t i = 0; i < down.samples; ++i)
      for (std::int64_t k = 0; k < across.samples; ++k)
        result.samples.push_back(
            neighboursOf(down.place(bin / binsAcross, i), across.place(bin % binsAcross, k), height, width));
  return result;
}

}  // namespace fusescope::ops
