// Resampling along axes. Each axis is resampled on its own, as a weighted sum of a few neighbours per output place.
#include <fmt/format.h>

#include <cmath>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/mapped_axes.h"

namespace fusescope::ops {
namespace {

/// How a Resize (or Upsample) node maps places of the output to places of the input.
struct Resampling {
  std::string mode, coordinates, nearest;
  double cubicA = -0.75;
  float extrapolation = 0;
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
    r.extrapolation = node.floatAttribute("extrapolation_value", 0.0F);
    r.excludeOutside = node.intAttribute("exclude_outside", 0) != 0;
    r.antialias = node.intAttribute("antialias", 0) != 0;
    return r;
  }
};

/// One axis: how many places, by which factor, and (tf_crop_and_resize) which part of the input.
struct ResampledAxis {
  std::int64_t in = 0, out = 0;
  double scale = 1, roiStart = 0, roiEnd = 1;
};

/// What a node asks for: a scale or a size for each of `axes`.
struct Wish {
  std::vector<std::size_t> axes;
  std::optional<std::vector<double>> scales;
  std::optional<Ints> sizes;
};

std::optional<std::vector<double>> knownDoubles(const Tensor* tensor) {
  if (tensor == nullptr || !tensor->hasData() || tensor->count() == 0) return std::nullopt;
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor->count(); ++i) values.push_back(tensor->asDouble(i));
  return values;
}

Result<Wish> readWish(const Node& node, std::size_t rank, const Tensor* scales, const Tensor* sizes) {
  Wish wish;
  for (std::size_t i = 0; i < rank && !node.hasAttribute("axes"); ++i) wish.axes.push_back(i);
  if (node.hasAttribute("axes")) wish.axes = TRY(normalizedAxes(node.intsAttribute("axes"), rank));
  wish.scales = knownDoubles(scales);
  if (sizes != nullptr && sizes->hasData() && sizes->count() > 0) wish.sizes = int64Values(*sizes);
  const auto wrong = [&](std::size_t count) { return count != wish.axes.size(); };
  if ((wish.scales && wrong(wish.scales->size())) || (wish.sizes && wrong(wish.sizes->size())))
    return problem(fmt::format("scales or sizes must have {} entries, one for each axis", wish.axes.size()));
  for (std::size_t i = 0; wish.scales && i < wish.scales->size(); ++i)
    if (!((*wish.scales)[i] > 0 && (*wish.scales)[i] < 1e9))
      return problem(fmt::format("a scale is {}", (*wish.scales)[i]));
  for (std::size_t i = 0; wish.sizes && i < wish.sizes->size(); ++i)
    if ((*wish.sizes)[i] < 1) return problem(fmt::format("a size is {}", (*wish.sizes)[i]));
  return wish;
}

/// The axes of concrete extents `dims` under `wish`.
Result<std::vector<ResampledAxis>> resampledAxes(const Node& node, const Dims& dims, const Wish& wish) {
  std::vector<ResampledAxis> axes;
  for (const std::int64_t dim : dims) axes.push_back({dim, dim, 1, 0, 1});
  const std::string policy =
      TRY(choiceAttribute(node, "keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"}));
  double common = policy == "not_larger" ? INFINITY : 0;
  for (std::size_t i = 0; wish.sizes && i < wish.axes.size(); ++i) {
    const double ratio =
        static_cast<double>((*wish.sizes)[i]) / static_cast<double>(std::max<std::int64_t>(1, dims[wish.axes[i]]));
    common = policy == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
  }
  for (std::size_t i = 0; i < wish.axes.size(); ++i) {
    ResampledAxis& axis = axes[wish.axes[i]];
    const auto in = static_cast<double>(axis.in);
    if (wish.sizes && policy != "stretch") {
      axis.scale = common;
      axis.out = static_cast<std::int64_t>(std::floor(common * in + 0.5));
    } else if (wish.sizes) {
      axis.out = (*wish.sizes)[i];
      axis.scale = static_cast<double>(axis.out) / std::max(1.0, in);
    } else {
      axis.scale = (*wish.scales)[i];
      axis.out = static_cast<std::int64_t>(std::floor(axis.scale * in));
    }
    if (axis.in == 0 && axis.out > 0) return problem("an empty axis cannot be resampled");
  }
  return axes;
}

const Tensor* orNull(const KernelContext& context, std::size_t i) {
  return context.hasInput(i) ? &context.input(i) : nullptr;
}

Result<Types> inferResize(const InferContext& context) {
  const Node& node = context.node();
  TRY(Resampling::read(node));
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  const bool upsample = node.op == "Upsample";
  const Wish wish =
      TRY(readWish(node, x.shape.rank(), context.constant(upsample ? 1 : 2), upsample ? nullptr : context.constant(3)));
  Shape result = x.shape;
  for (const std::size_t axis : wish.axes) result.dims[axis] = Dim();
  if (!wish.scales && !wish.sizes) return one(x.dtype, std::move(result));
  if (const auto dims = x.shape.fixed()) {
    const auto axes = TRY(resampledAxes(node, *dims, wish));
    for (std::size_t i = 0; i < axes.size(); ++i) result.dims[i] = Dim(axes[i].out);
    return one(x.dtype, std::move(result));
  }
  const bool stretch = node.textAttribute("keep_aspect_ratio_policy", "stretch") == "stretch";
  for (std::size_t i = 0; i < wish.axes.size(); ++i) {
    const Dim& in = x.shape.dims[wish.axes[i]];
    Dim& out = result.dims[wish.axes[i]];
    if (wish.sizes && stretch)
      out = Dim((*wish.sizes)[i]);
    else if (wish.scales && (*wish.scales)[i] == 1)
      out = in;
    else if (wish.scales && in.known())
      out = Dim(static_cast<std::int64_t>(std::floor((*wish.scales)[i] * static_cast<double>(in.size))));
  }
  return one(x.dtype, std::move(result));
}

/// The place of the input, with fraction, that place `at` of the output corresponds to.
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

double cubicWeight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

/// Input places (clamped to the axis) and their weights. Empty: the place is extrapolated.
using Taps = std::vector<std::pair<std::int64_t, double>>;

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
  // Antialiasing stretches the kernel when the axis shrinks.
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

/// `values` (extents `dims`) resampled along one axis.
std::vector<double> resampled(const std::vector<double>& values, Dims& dims, std::size_t axis,
                              const std::vector<Taps>& taps) {
  const AxisSplit split = splitAt(dims, axis);
  const auto out = static_cast<std::int64_t>(taps.size());
  std::vector<double> result(static_cast<std::size_t>(split.outer * out * split.inner), 0.0);
  for (std::int64_t o = 0; o < split.outer; ++o)
    for (std::int64_t k = 0; k < out; ++k)
      for (const auto& [place, weight] : taps[static_cast<std::size_t>(k)]) {
        const double* from = values.data() + (o * split.extent + place) * split.inner;
        double* to = result.data() + (o * out + k) * split.inner;
        for (std::int64_t i = 0; i < split.inner; ++i) to[i] += weight * from[i];
      }
  dims[axis] = out;
  return result;
}

/// Places of the output that lie outside the input along an axis hold the extrapolation value.
void extrapolate(std::vector<double>& values, const Dims& dims, std::size_t axis, const std::vector<Taps>& taps,
                 double value) {
  const AxisSplit split = splitAt(dims, axis);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i)
    if (taps[static_cast<std::size_t>(i / split.inner % split.extent)].empty())
      values[static_cast<std::size_t>(i)] = value;
}

/// The nearest elements are only moved, whatever their type.
Result<Tensors> movedNearest(const Tensor& x, const std::vector<ResampledAxis>& axes,
                             const std::vector<std::vector<Taps>>& taps, const Tensor& fill) {
  Dims dims;
  std::vector<Dims> maps;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Dims map;
    for (std::int64_t at = 0; at < axes[i].out; ++at) {
      const Taps* tap = taps[i].empty() ? nullptr : &taps[i][static_cast<std::size_t>(at)];
      map.push_back(tap == nullptr ? at : tap->empty() ? -1 : tap->front().first);
    }
    dims.push_back(axes[i].out);
    maps.push_back(std::move(map));
  }
  return gatherMapped(x, dims, maps, fill.type() == x.type() ? &fill : nullptr);
}

Result<Tensors> resize(const KernelContext& context) {
  const Node& node = context.node();
  const Tensor& x = context.input(0);
  const Resampling r = TRY(Resampling::read(node));
  const bool upsample = node.op == "Upsample";
  const Wish wish =
      TRY(readWish(node, x.dims().size(), orNull(context, upsample ? 1 : 2), upsample ? nullptr : orNull(context, 3)));
  auto axes = TRY(resampledAxes(node, x.dims(), wish));
  if (r.coordinates == "tf_crop_and_resize") {
    const auto roi = knownDoubles(orNull(context, 1));
    if (!roi || roi->size() != 2 * wish.axes.size())
      return problem("tf_crop_and_resize needs a roi with two entries per axis");
    for (std::size_t i = 0; i < wish.axes.size(); ++i) {
      axes[wish.axes[i]].roiStart = (*roi)[i];
      axes[wish.axes[i]].roiEnd = (*roi)[i + wish.axes.size()];
    }
  }
  std::vector<std::vector<Taps>> taps(axes.size());
  for (const std::size_t i : wish.axes)
    for (std::int64_t at = 0; at < axes[i].out; ++at) taps[i].push_back(tapsAt(r, axes[i], at));
  const bool numeric = (kNumberTypes | kBoolType).contains(x.type());
  if (r.mode == "nearest")
    return movedNearest(x, axes, taps, numeric ? Tensor::scalar(r.extrapolation).converted(x.type()) : Tensor());
  if (!numeric)
    return attributeProblem(
        "mode", fmt::format("elements of {} cannot be interpolated, only 'nearest' takes them", name(x.type())));
  Dims dims = x.dims();
  std::vector<double> values;
  for (std::int64_t i = 0; i < x.count(); ++i) values.push_back(x.asDouble(i));
  for (const std::size_t i : wish.axes) {
    if (axes[i].out != axes[i].in || axes[i].scale != 1 || r.coordinates == "tf_crop_and_resize")
      values = resampled(values, dims, i, taps[i]);
  }
  for (const std::size_t i : wish.axes)
    if (r.coordinates == "tf_crop_and_resize")
      extrapolate(values, dims, i, taps[i], static_cast<double>(r.extrapolation));
  return Tensors{Tensor::copyOf<double>(DataType::F64, dims, values).converted(x.type())};
}

}  // namespace

void registerResize(OpRegistry& registry) {
  const TypeSet types = kNumberTypes | kBoolType | TypeSet{DataType::String, DataType::C64, DataType::C128};
  registry.add({.op = "Resize",
                .kind = OpKind::Other,
                .minInputs = 1,
                .maxInputs = 4,
                .infer = inferResize,
                .kernel = resize,
                .signature = {"TRSI", {{'T', types}, {'R', kFloatTypes}, {'S', kFloatTypes}, {'I', kInt64Type}}}});
  registry.add({.op = "Upsample",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferResize,
                .kernel = resize,
                .signature = {"TS", {{'T', types}, {'S', kFloatTypes}}}});
}

}  // namespace fusescope::ops
