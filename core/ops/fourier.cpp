// Fourier transforms: DFT along an axis, and STFT over the frames of a signal. The last axis has the real and the
// imaginary part, or only the real part.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/fourier_transform.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

using Complex = std::complex<double>;

// Beyond this the arithmetic on extents could overflow.
constexpr std::int64_t kMostLength = std::int64_t{1} << 40;

Status checkParts(const Dim& parts) {
  if (!parts.known() || parts.size == 1 || parts.size == 2) return Done{};
  return problem(
      fmt::format("the last axis has {} elements, expected 1 (real) or 2 (real and imaginary part)", parts.size));
}

Result<std::int64_t> checkedLength(std::int64_t length, std::string_view what) {
  if (length >= 1 && length <= kMostLength) return length;
  return problem(fmt::format("{} is {}, expected 1 to {}", what, length, kMostLength));
}

// --- DFT

/// The second half of a real signal's spectrum mirrors the first. `onesided` leaves it out, in the result of a forward
/// transform and in the input of an inverse one.
struct DftOptions {
  bool inverse = false, onesided = false;
  explicit DftOptions(const Node& node)
      : inverse(node.intAttribute("inverse", 0) != 0), onesided(node.intAttribute("onesided", 0) != 0) {}
};

Result<std::size_t> dftAxis(std::int64_t axis, std::size_t rank) {
  const std::size_t at = TRY(normalizedAxis(axis, rank));
  if (at + 1 == rank) return attributeProblem("axis", "is the last axis, which contains the real and imaginary parts");
  return at;
}

/// Returns the number of elements of the signal: the given one, or that of the axis.
Result<Dim> dftLength(const InferContext& context, const DftOptions& options, const Dim& extent) {
  if (context.hasInput(1)) {
    const auto given = knownInt(context, 1);
    return given ? Dim(TRY(checkedLength(*given, "dft_length"))) : Dim();
  }
  if (!extent.known()) return options.inverse && options.onesided ? Dim() : extent;
  const std::int64_t length = options.inverse && options.onesided ? 2 * (extent.size - 1) : extent.size;
  return Dim(TRY(checkedLength(length, "the length of the signal")));
}

Result<Types> inferDft(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 2));
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  const DftOptions options(context.node());
  const Dim parts = x.shape.dims.back();
  TRY(checkParts(parts));
  if (options.onesided && parts.known() && parts.size != (options.inverse ? 2 : 1))
    return attributeProblem(
        "onesided", options.inverse ? "must be 0, because the inverse of a one-sided spectrum needs a complex input"
                                    : "must be 0, because a complex signal has no one-sided spectrum");
  Shape shape = x.shape;
  shape.dims.back() = Dim(options.onesided && options.inverse ? 1 : 2);
  const auto axis = context.hasInput(2) ? knownInt(context, 2) : std::optional<std::int64_t>(-2);
  if (!axis) {
    for (std::size_t i = 0; i + 1 < shape.rank(); ++i) shape.dims[i] = Dim();
    return one(x.dtype, std::move(shape));
  }
  const std::size_t at = TRY(dftAxis(*axis, shape.rank()));
  const Dim length = TRY(dftLength(context, options, x.shape.dims[at]));
  shape.dims[at] = options.onesided && !options.inverse ? (length.known() ? Dim(length.size / 2 + 1) : Dim()) : length;
  return one(x.dtype, std::move(shape));
}

/// Fills the second half of a real signal's spectrum, which is the first half mirrored and conjugated.
void mirror(std::vector<Complex>& spectrum) {
  for (std::size_t k = 1; 2 * k < spectrum.size(); ++k)
    spectrum[spectrum.size() - k] = Complex(spectrum[k].real(), -spectrum[k].imag());
}

template <class T>
Result<Tensors> dftAs(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const DftOptions options(context.node());
  Tensor result = TRY(allocateOutput(context));
  const std::size_t axis = TRY(dftAxis(context.hasInput(2) ? context.input(2).asInt64(0) : -2, x.dims().size()));
  const std::int64_t parts = x.dims().back(), given = x.dims()[axis];
  const std::int64_t outParts = result.dims().back(), wanted = result.dims()[axis];
  std::int64_t length = options.onesided && options.inverse ? 2 * (given - 1) : given;
  if (context.hasInput(1)) length = context.input(1).asInt64(0);
  const AxisSplit split = splitAt(x.dims(), axis);
  const std::int64_t lines = split.inner / parts;  // elements between two along the axis
  const std::int64_t used = options.onesided && options.inverse ? length / 2 + 1 : length;
  const double scale = options.inverse ? 1.0 / static_cast<double>(length) : 1.0;
  for (std::int64_t line = 0; line < split.outer * lines; ++line) {
    const std::int64_t outer = line / lines, inner = line % lines;
    std::vector<Complex> signal(static_cast<std::size_t>(length));
    for (std::int64_t n = 0; n < std::min(used, given); ++n) {
      const T* from = x.data<T>().data() + ((outer * given + n) * lines + inner) * parts;
      signal[static_cast<std::size_t>(n)] =
          Complex(static_cast<double>(from[0]), parts == 2 ? static_cast<double>(from[1]) : 0.0);
    }
    if (options.onesided && options.inverse) mirror(signal);
    const std::vector<Complex> spectrum = fourier(signal, options.inverse);
    for (std::int64_t k = 0; k < wanted; ++k) {
      T* to = result.mutableData<T>().data() + ((outer * wanted + k) * lines + inner) * outParts;
      to[0] = static_cast<T>(spectrum[static_cast<std::size_t>(k)].real() * scale);
      if (outParts == 2) to[1] = static_cast<T>(spectrum[static_cast<std::size_t>(k)].imag() * scale);
    }
  }
  return Tensors{std::move(result)};
}

// --- STFT

bool isOnesided(const Node& node) {
  return node.intAttribute("onesided", 1) != 0;
}

/// Returns the number of elements of a frame: the given one, that of the window, or that of the signal; it may be
/// unknown.
Result<Dim> frameLength(const InferContext& context) {
  Dim length;
  if (context.hasInput(3)) {
    const auto given = knownInt(context, 3);
    if (given) length = Dim(TRY(checkedLength(*given, "frame_length")));
  }
  if (context.hasInput(2)) {
    TRY(requireRank(context, 2, 1));
    return unified(context, length, extentOf(context, 2, 0), "frame_length and the length of the window");
  }
  return context.hasInput(3) ? length : extentOf(context, 0, 1);
}

/// Returns the extent of the signal's last axis, which has the parts of a number. Real signals may lack this axis,
/// because exporters write them so and runtimes accept them.
Result<Dim> partsOfSignal(const InferContext& context) {
  const Shape& signal = context.input(0).shape;
  if (signal.ranked && signal.rank() == 2) return Dim(1);
  TRY(requireRank(context, 0, 3));
  return extentOf(context, 0, 2);
}

Result<Types> inferStft(const InferContext& context) {
  const Dim parts = TRY(partsOfSignal(context)), samples = extentOf(context, 0, 1);
  TRY(checkParts(parts));
  if (isOnesided(context.node()) && parts.known() && parts.size == 2)
    return attributeProblem("onesided", "must be 0, because a complex signal has no one-sided spectrum");
  const Dim length = TRY(frameLength(context));
  const auto step = knownInt(context, 1);
  if (step) TRY(checkedLength(*step, "frame_step"));
  if (length.known()) TRY(checkedLength(length.size, "the length of a frame"));
  Dim frames, bins;
  if (length.known()) bins = Dim(isOnesided(context.node()) ? length.size / 2 + 1 : length.size);
  if (length.known() && samples.known() && length.size > samples.size)
    return problem(
        fmt::format("a frame of {} samples does not fit into a signal of {} samples", length.size, samples.size));
  if (length.known() && samples.known() && step) frames = Dim((samples.size - length.size) / *step + 1);
  return one(context.input(0).dtype, Shape::of({extentOf(context, 0, 0), frames, bins, Dim(2)}));
}

template <class T>
Result<Tensors> stftAs(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const std::int64_t samples = x.dims()[1], parts = x.dims().size() == 2 ? 1 : x.dims()[2];
  const std::int64_t frames = result.dims()[1], bins = result.dims()[2];
  const std::int64_t length = context.hasInput(3)   ? context.input(3).asInt64(0)
                              : context.hasInput(2) ? context.input(2).count()
                                                    : samples;
  const std::int64_t step = context.input(1).asInt64(0);
  T* to = result.mutableData<T>().data();
  for (std::int64_t frame = 0; frame < x.dims()[0] * frames; ++frame) {
    const T* from = x.data<T>().data() + (frame / frames * samples + frame % frames * step) * parts;
    std::vector<Complex> signal;
    for (std::int64_t n = 0; n < length; ++n) {
      const double weight = context.hasInput(2) ? context.input(2).asDouble(n) : 1.0;
      signal.push_back(weight * Complex(static_cast<double>(from[n * parts]),
                                        parts == 2 ? static_cast<double>(from[n * parts + 1]) : 0.0));
    }
    const std::vector<Complex> spectrum = fourier(signal, false);
    for (std::int64_t k = 0; k < bins; ++k) {
      *to++ = static_cast<T>(spectrum[static_cast<std::size_t>(k)].real());
      *to++ = static_cast<T>(spectrum[static_cast<std::size_t>(k)].imag());
    }
  }
  return Tensors{std::move(result)};
}

}  // namespace

void registerFourier(OpRegistry& registry) {
  registry.add({.op = "DFT",
                .kind = OpKind::Other,
                .minInputs = 1,
                .maxInputs = 3,
                .infer = inferDft,
                .kernel = FUSESCOPE_FLOAT_KERNEL(dftAs<T>(context)),
                .signature = {"TLA", {{'T', kWideFloatTypes}, {'L', kIndexTypes}, {'A', kInt64Type}}}});
  registry.add({.op = "STFT",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 4,
                .infer = inferStft,
                .kernel = FUSESCOPE_FLOAT_KERNEL(stftAs<T>(context)),
                .signature = {"TSTS", {{'T', kWideFloatTypes}, {'S', kIndexTypes}}}});
}

}  // namespace fusescope::ops
