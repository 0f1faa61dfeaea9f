// The weights of Resize.
#include "ops/support/resampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/support/infer_support.h"

namespace fusescope::ops {
namespace {

/// How a Resize (or Upsample) node maps output indices to places of the input.
struct Resampling {
  std::string mode, coordinates, nearest;
  double cubicA = -0.75;
  bool excludeOutside = false, antialias = false;

  static Result<Resampling> read(const Node& node) {
    Resampling r;
    if (node.op == "Upsample") {
      r.mode = TRY(choiceAttribute(node, "mode", "nearest", {"nearest", "linear"}));
      r.coordinates = "asymmetric";
      r.nearest = "floor";
      return r;
    }
    r.mode = TRY(choiceAttribute(node, "mode", "nearest", {"nearest", "linear", "cubic"}));
    r.coordinates = TRY(choiceAttribute(node, "coordinate_transformation_mode", "half_pixel",
                                        {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                         "asymmetric", "tf_crop_and_resize"}));
    r.nearest = TRY(choiceAttribute(node, "nearest_mode", "round_prefer_floor",
                                    {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
    r.cubicA = static_cast<double>(node.floatAttribute("cubic_coeff_a", -0.75F));
    r.excludeOutside = node.intAttribute("exclude_outside", 0) != 0;
    r.antialias = node.intAttribute("antialias", 0) != 0;
    return r;
  }
};

/// One axis: its number of output elements, its scale, and (for tf_crop_and_resize) the part of the input.
struct ResampledAxis {
  std::int64_t in = 0, out = 0;
  double scale = 1, roiStart = 0, roiEnd = 1;
};

std::optional<std::vector<double>> knownDoubles(const Tensor* tensor) {
  if (tensor == nullptr || !tensor->hasData() || tensor->count() == 0) return std::nullopt;
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor->count(); ++i) values.push_back(tensor->asDouble(i));
  return values;
}

/// Returns the axes of known extents `dims` under `request`.
Result<std::vector<ResampledAxis>> resampledAxes(const Node& node, const Dims& dims, const ResizeRequest& request) {
  std::vector<ResampledAxis> axes;
  for (const std::int64_t dim : dims) axes.push_back({dim, dim, 1, 0, 1});
  const std::string policy =
      TRY(choiceAttribute(node, "keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"}));
  double common = policy == "not_larger" ? INFINITY : 0;
  for (std::size_t i = 0; request.sizes && i < request.axes.size(); ++i) {
    const double ratio = static_cast<double>((*request.sizes)[i]) /
                         static_cast<double>(std::max<std::int64_t>(1, dims[request.axes[i]]));
    common = policy == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
  }
  for (std::size_t i = 0; i < request.axes.size(); ++i) {
    ResampledAxis& axis = axes[request.axes[i]];
    const auto in = static_cast<double>(axis.in);
    if (request.sizes && policy != "stretch") {
      axis.scale = common;
      axis.out = static_cast<std::int64_t>(std::floor(common * in + 0.5));
    } else if (request.sizes) {
      axis.out = (*request.sizes)[i];
      axis.scale = static_cast<double>(axis.out) / std::max(1.0, in);
    } else {
      axis.scale = (*request.scales)[i];
      axis.out = static_cast<std::int64_t>(std::floor(axis.scale * in));
    }
    if (axis.in == 0 && axis.out > 0) return problem("an axis of extent 0 cannot be resampled");
  }
  return axes;
}

/// Returns the place in the input, with a fraction, of output index `at`.
double originalPlace(const ResampledAxis& axis, const std::string& mode, std::int64_t at) {
  const auto x = static_cast<double>(at), in = static_cast<double>(axis.in);
  const double out = axis.scale * in;  // before rounding down
  if (mode == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double span = (axis.roiEnd - axis.roiStart) * (in - 1);
    return axis.roiStart * (in - 1) + (out == 1 ? span / 2 : x * span / (out - 1));
  }
  if (mode == "pytorch_half_pixel" && out == 1) return 0;
  const double centred = (x + 0.5) / axis.scale - 0.5;
  return mode == "half_pixel_symmetric" ? in / 2 * (1 - static_cast<double>(axis.out) / out) + centred : centred;
}

std::int64_t nearestPlace(double x, const std::string& mode) {
  const double place = mode == "floor"               ? std::floor(x)
                       : mode == "ceil"              ? std::ceil(x)
                       : mode == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                     : std::ceil(x - 0.5);
  return static_cast<std::int64_t>(place);
}

Taps tapsAt(const Resampling& r, const ResampledAxis& axis, std::int64_t at) {
  const double x = originalPlace(axis, r.coordinates, at);
  if (r.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.in - 1))) return {};
  const auto clamped = [&](std::int64_t place) { return std::clamp<std::int64_t>(place, 0, axis.in - 1); };
  if (r.mode == "nearest") return {{clamped(nearestPlace(x, r.nearest)), 1.0}};
  // Antialiasing stretches the kernel if the axis shrinks.
  const double stretch = r.antialias ? std::min(axis.scale, 1.0) : 1.0, radius = r.mode == "linear" ? 1 : 2;
  const auto base = static_cast<std::int64_t>(std::floor(x));
  const auto first = static_cast<std::int64_t>(std::floor(-radius / stretch)) + 1;
  Taps taps;
  double sum = 0;
  for (std::int64_t k = first; k <= 1 - first; ++k) {
    const double distance = (static_cast<double>(base + k) - x) * stretch;
    double weight = r.mode == "linear" ? std::max(0.0, 1 - std::fabs(distance)) : cubicWeight(distance, r.cubicA);
    if (r.excludeOutside && (base + k < 0 || base + k >= axis.in)) weight = 0;
    taps.emplace_back(clamped(base + k), weight);
    sum += weight;
  }
  for (auto& [place, weight] : taps) weight /= sum;
  return taps;
}

}  // namespace

double cubicWeight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

Result<ResizeRequest> readResizeRequest(const Node& node, std::size_t rank, const Tensor* scales, const Tensor* sizes) {
  ResizeRequest request;
  for (std::size_t i = 0; i < rank && !node.hasAttribute("axes"); ++i) request.axes.push_back(i);
  if (node.hasAttribute("axes")) request.axes = TRY(normalizedAxes(node.intsAttribute("axes"), rank));
  request.scales = knownDoubles(scales);
  if (sizes != nullptr && sizes->hasData() && sizes->count() > 0) request.sizes = int64Values(*sizes);
  const auto wrong = [&](std::size_t count) { return count != request.axes.size(); };
  if ((request.scales && wrong(request.scales->size())) || (request.sizes && wrong(request.sizes->size())))
    return problem(fmt::format("scales or sizes must have {} entries, one for each axis", request.axes.size()));
  for (std::size_t i = 0; request.scales && i < request.scales->size(); ++i)
    if (!((*request.scales)[i] > 0 && (*request.scales)[i] < 1e9))
      return problem(fmt::format("a scale is {}, expected a number above 0 and below 1e9", (*request.scales)[i]));
  for (std::size_t i = 0; request.sizes && i < request.sizes->size(); ++i)
    if ((*request.sizes)[i] < 1) return problem(fmt::format("a size is {}, expected at least 1", (*request.sizes)[i]));
  return request;
}

Status checkResizeAttributes(const Node& node) {
  TRY(Resampling::read(node));
  return Done{};
}

Result<Dims> resizedDims(const Node& node, const Dims& dims, const ResizeRequest& request) {
  Dims result;
  for (const ResampledAxis& axis : TRY(resampledAxes(node, dims, request))) result.push_back(axis.out);
  return result;
}

Result<std::vector<AxisResampling>> axisResamplings(const Node& node, const Dims& dims, const ResizeRequest& request,
                                                    const Tensor* roi) {
  const Resampling r = TRY(Resampling::read(node));
  auto axes = TRY(resampledAxes(node, dims, request));
  const bool crops = r.coordinates == "tf_crop_and_resize";
  const auto part = crops ? knownDoubles(roi) : std::nullopt;
  if (crops && (!part || part->size() != 2 * request.axes.size()))
    return problem("the mode tf_crop_and_resize needs the input roi with two entries for each axis");
  std::vector<AxisResampling> result;
  for (std::size_t i = 0; i < request.axes.size(); ++i) {
    ResampledAxis& axis = axes[request.axes[i]];
    if (crops) {
      axis.roiStart = (*part)[i];
      axis.roiEnd = (*part)[i + request.axes.size()];
    }
    AxisResampling& resampling = result.emplace_back(AxisResampling{.axis = request.axes[i], .taps = {}});
    for (std::int64_t at = 0; at < axis.out; ++at) resampling.taps.push_back(tapsAt(r, axis, at));
    resampling.copies = axis.out == axis.in && axis.scale == 1 && !crops;
  }
  return result;
}

}  // namespace fusescope::ops
