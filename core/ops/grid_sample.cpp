// Sampling of an image at the places of a grid, and the grids of affine maps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"
#include "ops/support/resampling.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

constexpr double kCubicCoefficient = -0.75;  // of Keys' cubic convolution

// --- GridSample

Result<Types> inferGridSample(const InferContext& context) {
  const Node& node = context.node();
  TRY(choiceAttribute(node, "mode", "linear", {"linear", "nearest", "cubic"}));
  TRY(choiceAttribute(node, "padding_mode", "zeros", {"zeros", "border", "reflection"}));
  TRY(requireRankAtLeast(context, 0, 3));
  TRY(requireRankAtLeast(context, 1, 3));
  const TensorType& x = context.input(0);
  const Shape& grid = context.input(1).shape;
  if (!x.shape.ranked || !grid.ranked) return one(x.dtype, Shape::unknown());
  std::vector<Dim> expected = grid.dims;
  TRY(requireRank(context, 1, x.shape.rank()));
  expected.front() = x.shape.dims[0];
  expected.back() = Dim(std::ssize(x.shape.dims) - 2);
  TRY(requireExtents(context, 1, "grid", expected));
  std::vector<Dim> dims{TRY(unified(context, x.shape.dims[0], grid.dims[0], "the batch extents")), x.shape.dims[1]};
  dims.insert(dims.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  return one(x.dtype, Shape::of(std::move(dims)));
}

/// How places of the grid are converted to elements of the image.
struct Sampling {
  std::string mode, padding;
  bool alignCorners = false;
  Dims in;  ///< the spatial extents of the image

  explicit Sampling(const KernelContext& context)
      : mode(context.node().textAttribute("mode", "linear")),
        padding(context.node().textAttribute("padding_mode", "zeros")),
        alignCorners(context.node().intAttribute("align_corners", 0) != 0),
        in(context.input(0).dims().begin() + 2, context.input(0).dims().end()) {}
};

/// Indices along an axis and their weights. An index outside counts as zero and is left out.
using AxisTaps = std::vector<std::pair<std::int64_t, double>>;

/// Returns `place`, reflected at `low` and `high` until it is between them.
double reflected(double place, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double distance = place < low ? low - place : place > high ? place - high : 0;
  if (distance == 0) return place;
  const double rest = std::fmod(distance, range);
  const bool even = std::fmod(std::floor(distance / range), 2.0) == 0;
  return (place < low) == even ? low + rest : high - rest;
}

/// Returns the taps of a normalised place (-1 to 1) along axis `axis`. Places are computed in the type of the grid,
/// because ties decide which neighbour is nearest.
template <class G>
AxisTaps tapsAt(const Sampling& sampling, std::size_t axis, G normalized) {
  const std::int64_t extent = sampling.in[axis];
  const auto length = static_cast<G>(extent);
  const double low = sampling.alignCorners ? 0 : -0.5, high = static_cast<double>(extent - 1) - low;
  auto x = static_cast<double>(sampling.alignCorners ? (normalized + G(1)) / G(2) * (length - G(1))
                                                     : ((normalized + G(1)) * length - G(1)) / G(2));
  if (std::isnan(x)) x = -2;  // treated as a place before the image
  if (sampling.mode == "nearest") x = std::nearbyint(x);
  const double last = static_cast<double>(extent - 1);
  // Cubic taps are clamped to the border one by one, as in PyTorch's grid_sample.
  if (sampling.padding == "border" && sampling.mode != "cubic") x = std::clamp(x, 0.0, last);
  if ((x < low || x > high) && sampling.padding == "reflection") x = std::isinf(x) ? 0 : reflected(x, low, high);
  x = std::clamp(x, -4.0, last + 4.0);  // a place further outside reaches no element
  const double base = std::floor(x);
  AxisTaps taps;
  const auto tap = [&](double place, double weight) {
    if (sampling.padding == "reflection") place = std::clamp(reflected(place, low, high), 0.0, last);
    if (sampling.padding == "border") place = std::clamp(place, 0.0, last);
    if (place >= 0 && place <= last) taps.emplace_back(static_cast<std::int64_t>(place), weight);
  };
  if (sampling.mode == "nearest") {
    tap(x, 1);
  } else if (sampling.mode == "linear") {
    tap(base, 1 - (x - base));
    tap(base + 1, x - base);
  } else {
    for (int k = -1; k <= 2; ++k) tap(base + k, cubicWeight(x - base - k, kCubicCoefficient));
  }
  return taps;
}

/// Calls f(taps) with (offset in an image plane, weight) for each place of the grid of image `n`, in order.
template <class G, class F>
void forEachPlace(const Sampling& sampling, const Tensor& grid, std::int64_t n, F f) {
  const std::size_t rank = sampling.in.size();
  const Dims strides = denseStrides(sampling.in);
  const std::int64_t places = grid.count() / grid.dims()[0] / static_cast<std::int64_t>(rank);
  std::vector<AxisTaps> axes(rank);
  AxisTaps taps;
  for (std::int64_t p = 0; p < places; ++p) {
    Dims counts(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      // Coordinates are ordered from the innermost axis outwards.
      const auto at = (n * places + p + 1) * static_cast<std::int64_t>(rank) - 1 - static_cast<std::int64_t>(axis);
      axes[axis] = tapsAt<G>(sampling, axis, static_cast<G>(grid.asDouble(at)));
      counts[axis] = std::ssize(axes[axis]);
    }
    taps.clear();
    forEachIndex(counts, [&](const Dims& index) {
      std::pair<std::int64_t, double> tap{0, 1};
      for (std::size_t axis = 0; axis < rank; ++axis) {
        const auto& [place, weight] = axes[axis][static_cast<std::size_t>(index[axis])];
        tap.first += place * strides[axis];
        tap.second *= weight;
      }
      taps.push_back(tap);
      return true;
    });
    f(p, taps);
  }
}

/// result[n, c, place] = combine(plane, taps) for every image, channel and place.
template <class T, class Combine>
Result<Tensors> sample(const KernelContext& context, Combine combine) {
  const Tensor &x = context.input(0), &grid = context.input(1);
  const Sampling sampling(context);
  auto builder = TRY(Builder<T>::create(x.type(), context.outputDims(0)));
  const auto to = builder.elements();
  const std::int64_t area = elementCount(sampling.in).value(), channels = x.dims()[1];
  if (area == 0 && !to.empty()) return problem("the image has no elements to sample");
  for (std::int64_t n = 0; !to.empty() && n < x.dims()[0]; ++n) {
    const std::int64_t places = std::ssize(to) / x.dims()[0] / channels;
    const auto take = [&](std::int64_t p, const AxisTaps& taps) {
      for (std::int64_t c = 0; c < channels; ++c)
        to[static_cast<std::size_t>((n * channels + c) * places + p)] =
            combine(elementsOf<T>(x).data() + (n * channels + c) * area, taps);
    };
    if (grid.type() == DataType::F64)
      forEachPlace<double>(sampling, grid, n, take);
    else
      forEachPlace<float>(sampling, grid, n, take);
  }
  return Tensors{std::move(builder).finish()};
}

/// The nearest element is only moved, so that every type is supported.
Result<Tensors> sampleNearest(const KernelContext& context) {
  return dispatchStorage(context.outputType(0), [&]<class T>(std::type_identity<T>) {
    return sample<T>(
        context, [](const T* plane, const AxisTaps& taps) { return taps.empty() ? T() : plane[taps.front().first]; });
  });
}

/// Converts a weighted sum to an element: floats are unchanged, integers are truncated and clamped.
template <class T>
T asElement(double sum) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(sum);
  const auto least = static_cast<double>(std::numeric_limits<T>::lowest());
  const auto most = static_cast<double>(std::numeric_limits<T>::max());
  if (sum >= most) return std::numeric_limits<T>::max();
  return sum <= least ? std::numeric_limits<T>::lowest() : static_cast<T>(sum);
}

Result<Tensors> sampleWeighted(const KernelContext& context) {
  const bool truth = context.outputType(0) == DataType::Bool;
  return dispatchNumber(context.outputType(0), [&]<class T>(std::type_identity<T>) {
    return sample<T>(context, [&](const T* plane, const AxisTaps& taps) {
      double sum = 0;
      for (const auto& [place, weight] : taps) sum += weight * static_cast<double>(plane[place]);
      return truth ? static_cast<T>(sum != 0) : asElement<T>(sum);
    });
  });
}

Result<Tensors> gridSample(const KernelContext& context) {
  static const KernelFunction kWeighted = widened(sampleWeighted);
  if (context.node().textAttribute("mode", "linear") == "nearest") return sampleNearest(context);
  const DataType type = context.outputType(0);
  if (!(kNumberTypes | kBoolType).contains(type))
    return attributeProblem(
        "mode", fmt::format("elements of type {} cannot be interpolated; only 'nearest' accepts them", name(type)));
  return kWeighted(context);
}

// --- AffineGrid

/// The size is [N, C, spatial extents], theta is [N, r, r + 1], and the grid is [N, spatial extents, r].
Result<Types> inferAffineGrid(const InferContext& context) {
  const TensorType& theta = context.input(0);
  TRY(requireRank(context, 0, 3));
  const auto size = knownInts(context, 1);
  if (!size) {
    const Dim length = extentOf(context, 1, 0);
    return one(theta.dtype, length.known() && (length.size == 4 || length.size == 5)
                                ? unknownOfRank(static_cast<std::size_t>(length.size))
                                : Shape::unknown());
  }
  if (size->size() != 4 && size->size() != 5)
    return problem(fmt::format("size has {} entries, expected 4 or 5", size->size()));
  for (const std::int64_t extent : *size) TRY(checkedExtent(extent, "an entry of size"));
  const std::int64_t rank = std::ssize(*size) - 2;
  TRY(requireExtents(context, 0, "theta", {Dim((*size)[0]), Dim(rank), Dim(rank + 1)}));
  Dims dims{(*size)[0]};
  dims.insert(dims.end(), size->begin() + 2, size->end());
  dims.push_back(rank);
  return one(theta.dtype, Shape::of(dims));
}

/// Returns evenly spaced numbers from -1 to 1. These are the centres of the outer pixels if `alignCorners` is set,
/// otherwise their outer edges.
std::vector<double> evenPlaces(std::int64_t count, bool alignCorners) {
  std::vector<double> places;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(i), all = static_cast<double>(count);
    places.push_back(!alignCorners ? (2 * at + 1) / all - 1 : count == 1 ? -1 : 2 * at / (all - 1) - 1);
  }
  return places;
}

template <class T>
Result<Tensors> affineGridAs(const KernelContext& context) {
  const Tensor& theta = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const bool alignCorners = context.node().intAttribute("align_corners", 0) != 0;
  const Dims& dims = result.dims();
  const Dims spatial(dims.begin() + 1, dims.end() - 1);
  const std::size_t rank = spatial.size();
  std::vector<std::vector<double>> places;
  for (const std::int64_t extent : spatial) places.push_back(evenPlaces(extent, alignCorners));
  T* to = result.mutableData<T>().data();
  for (std::int64_t n = 0; n < dims[0]; ++n) {
    const T* matrix = theta.data<T>().data() + n * static_cast<std::int64_t>(rank * (rank + 1));
    forEachIndex(spatial, [&](const Dims& index) {
      for (std::size_t row = 0; row < rank; ++row) {
        auto sum = static_cast<double>(matrix[row * (rank + 1) + rank]);
        for (std::size_t k = 0; k < rank; ++k) {  // x, the innermost axis, is first
          const std::size_t axis = rank - 1 - k;
          sum +=
              static_cast<double>(matrix[row * (rank + 1) + k]) * places[axis][static_cast<std::size_t>(index[axis])];
        }
        *to++ = static_cast<T>(sum);
      }
      return true;
    });
  }
  return Tensors{std::move(result)};
}

}  // namespace

void registerGridSample(OpRegistry& registry) {
  registry.add({.op = "AffineGrid",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferAffineGrid,
                .kernel = FUSESCOPE_FLOAT_KERNEL(affineGridAs<T>(context)),
                .signature = {"TI", {{'T', kWideFloatTypes}, {'I', kInt64Type}}}});
  registry.add({.op = "GridSample",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferGridSample,
                .kernel = gridSample,
                .signature = {"TG", {{'T', kAnyType}, {'G', kWideFloatTypes}}}});
}

}  // namespace fusescope::ops
