// Windows for spectra, and the weights that convert a spectrum to mel bands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

constexpr TypeSet kMadeTypes = kWideFloatTypes | kIntegerTypes;

Result<DataType> madeType(const Node& node) {
  const DataType type = TRY(typeAttribute(node, "output_datatype", DataType::F32));
  if (kMadeTypes.contains(type)) return type;
  return attributeProblem("output_datatype", fmt::format("is {}, expected one of {}", name(type), kMadeTypes.text()));
}

Status requireScalars(const InferContext& context, std::initializer_list<std::string_view> names) {
  std::size_t i = 0;
  for (const std::string_view what : names) {
    const Shape& shape = context.input(i++).shape;
    if (shape.ranked && knownProduct(shape.dims).value_or(1) != 1)
      return problem(fmt::format("{} must be a single number", what));
  }
  return Done{};
}

// --- windows

Result<Types> inferWindow(const InferContext& context) {
  const DataType type = TRY(madeType(context.node()));
  TRY(requireScalars(context, {"size"}));
  const auto size = knownInt(context, 0);
  return one(type, Shape::of({size ? TRY(checkedExtent(*size, "size")) : Dim()}));
}

/// window[n] = a - b·cos(2πn/N) + c·cos(4πn/N), where N is the length, or one less if the window is not periodic.
struct CosineWindow {
  double a, b, c;

  Result<Tensors> operator()(const KernelContext& context) const {
    Tensor wide = TRY(allocate(DataType::F64, context.outputDims(0)));
    const bool periodic = context.node().intAttribute("periodic", 1) != 0;
    const std::int64_t size = wide.count();
    const auto length = static_cast<double>(periodic ? size : size - 1);
    for (std::int64_t n = 0; n < size; ++n) {
      const double turn = 2 * std::numbers::pi * static_cast<double>(n) / length;
      wide.mutableData<double>()[static_cast<std::size_t>(n)] =
          length == 0 ? 1.0 : a - b * std::cos(turn) + c * std::cos(2 * turn);
    }
    return Tensors{wide.converted(context.outputType(0))};
  }
};

OpSchema window(std::string op, CosineWindow function) {
  return {.op = std::move(op),
          .kind = OpKind::Shape,
          .minInputs = 1,
          .maxInputs = 1,
          .infer = inferWindow,
          .kernel = function,
          .signature = {"S", {{'S', kIndexTypes}}}};
}

// --- MelWeightMatrix

constexpr std::int64_t kMostBins = std::int64_t{1} << 30;

/// Inputs: num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz.
Result<Types> inferMelWeights(const InferContext& context) {
  const DataType type = TRY(madeType(context.node()));
  TRY(requireScalars(context, {"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz"}));
  const auto bands = knownInt(context, 0), length = knownInt(context, 1);
  if (bands && (*bands < 1 || *bands > kMostBins))
    return problem(fmt::format("num_mel_bins is {}, expected 1 to {}", *bands, kMostBins));
  if (length && (*length < 1 || *length > kMostBins))
    return problem(fmt::format("dft_length is {}, expected 1 to {}", *length, kMostBins));
  return one(type, Shape::of({length ? Dim(*length / 2 + 1) : Dim(), bands ? Dim(*bands) : Dim()}));
}

/// Returns the bins of the spectrum at which the triangles of the bands begin, peak and end: even steps on the mel
/// scale, mel(f) = 2595·log10(1 + f / 700). As in the operator's reference, a step is 1 / (bands + 2) of the range.
std::vector<std::int64_t> bandEdges(std::int64_t bands, std::int64_t length, double rate, double low, double high) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (mel(low) + static_cast<double>(i) * step) / 2595) - 1);
    edges.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / rate)));
  }
  return edges;
}

Result<Tensors> melWeights(const KernelContext& context) {
  const std::int64_t bands = context.input(0).asInt64(0), length = context.input(1).asInt64(0);
  const double rate = context.input(2).asDouble(0), low = context.input(3).asDouble(0);
  const double high = context.input(4).asDouble(0);
  if (!(rate >= 1)) return problem(fmt::format("sample_rate is {}, expected at least 1", rate));
  if (!(low >= 0 && high > low && high <= rate))
    return problem(
        fmt::format("the mel bands from {} to {} Hz are not possible with a sample rate of {} Hz", low, high, rate));
  Tensor wide = TRY(allocate(DataType::F64, context.outputDims(0)));
  const std::int64_t bins = wide.dims()[0];
  const std::vector<std::int64_t> edges = bandEdges(bands, length, rate, low, high);
  const auto set = [&](std::int64_t bin, std::int64_t band, double weight) {
    if (bin < bins) wide.mutableData<double>()[static_cast<std::size_t>(bin * bands + band)] = weight;
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const auto* edge = edges.data() + band;
    const std::int64_t begin = edge[0], peak = edge[1], end = edge[2];
    if (begin == peak) set(peak, band, 1);
    for (std::int64_t bin = begin; begin < peak && bin <= peak; ++bin)
      set(bin, band, static_cast<double>(bin - begin) / static_cast<double>(peak - begin));
    for (std::int64_t bin = peak; bin < end; ++bin)
      set(bin, band, static_cast<double>(end - bin) / static_cast<double>(end - peak));
  }
  return Tensors{wide.converted(context.outputType(0))};
}

}  // namespace

void registerSignalWindows(OpRegistry& registry) {
  registry.add(window("BlackmanWindow", {0.42, 0.5, 0.08}));
  registry.add(window("HammingWindow", {25.0 / 46, 21.0 / 46, 0}));
  registry.add(window("HannWindow", {0.5, 0.5, 0}));
  registry.add({.op = "MelWeightMatrix",
                .kind = OpKind::Shape,
                .minInputs = 5,
                .maxInputs = 5,
                .infer = inferMelWeights,
                .kernel = melWeights,
                .signature = {"IIIFF", {{'I', kIndexTypes}, {'F', kWideFloatTypes}}}});
}

}  // namespace fusescope::ops
