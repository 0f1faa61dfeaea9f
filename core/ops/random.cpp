// Random numbers. Each node has its own generator (MT19937, 53 bits per number), which is reset for every run, so that
// runs can be repeated and two plans of a network can be compared.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "base/hash.h"
#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

/// Returns the seed of a node: its attribute, or one that is derived from its name.
std::uint32_t seedOf(const Node& node) {
  const auto found = node.attributes.find("seed");
  if (found != node.attributes.end()) {
    if (const auto* number = std::get_if<std::int64_t>(&found->second)) return static_cast<std::uint32_t>(*number);
    if (const auto* number = std::get_if<float>(&found->second)) {
      const bool whole = *number >= 0 && *number < 4294967296.0F && std::floor(*number) == *number;
      return whole ? static_cast<std::uint32_t>(*number) : std::bit_cast<std::uint32_t>(*number);
    }
  }
  return static_cast<std::uint32_t>(hashText(node.name).low);
}

class Draws {
 public:
  explicit Draws(const Node& node) : m_generator(seedOf(node)) {}

  /// Returns a number that is uniformly distributed in [0, 1).
  double uniform() {
    const auto high = static_cast<double>(m_generator() >> 5), low = static_cast<double>(m_generator() >> 6);
    return (high * 67108864.0 + low) / 9007199254740992.0;  // 27 and 26 bits, over 2^53
  }
  /// Returns a number of the normal distribution with mean 0 and deviation 1, by Marsaglia's polar method.
  double normal() {
    while (true) {
      const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, square = x * x + y * y;
      if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
    }
  }

 private:
  std::mt19937 m_generator;
};

/// Makes a tensor with the extents and type of output 0, each element from `draw(i)`.
template <class Draw>
Result<Tensors> drawn(const KernelContext& context, Draw draw) {
  Tensor wide = TRY(allocate(DataType::F64, context.outputDims(0)));
  std::int64_t i = 0;
  for (double& element : wide.mutableData<double>()) element = draw(i++);
  return Tensors{context.outputType(0) == DataType::F64 ? std::move(wide) : wide.converted(context.outputType(0))};
}

// --- RandomNormal, RandomUniform and their -Like

Status checkParameters(const Node& node) {
  for (const char* key : {"mean", "scale", "low", "high"})
    if (!std::isfinite(node.floatAttribute(key, 0))) return attributeProblem(key, "is not a finite number");
  if (node.floatAttribute("scale", 1) < 0) return attributeProblem("scale", "must not be negative");
  return Done{};
}

Result<DataType> drawnType(const Node& node, DataType otherwise) {
  const DataType type = TRY(typeAttribute(node, "dtype", otherwise));
  if (kWideFloatTypes.contains(type) || type == DataType::Undefined) return type;
  return attributeProblem("dtype", fmt::format("random numbers of type {} are not defined, expected one of {}",
                                               name(type), kWideFloatTypes.text()));
}

/// The extents are in the attribute `shape`.
Result<Types> inferRandom(const InferContext& context) {
  TRY(checkParameters(context.node()));
  const DataType type = TRY(drawnType(context.node(), DataType::F32));
  if (!context.node().hasAttribute("shape")) return attributeProblem("shape", "is missing");
  const Ints shape = context.node().intsAttribute("shape");
  for (const std::int64_t extent : shape)
    if (extent < 0)
      return attributeProblem("shape", fmt::format("contains {}, but an extent cannot be negative", extent));
  return one(type, Shape::of(shape));
}

Result<Types> inferRandomLike(const InferContext& context) {
  TRY(checkParameters(context.node()));
  return one(TRY(drawnType(context.node(), context.input(0).dtype)), context.input(0).shape);
}

Result<Tensors> randomNormal(const KernelContext& context) {
  Draws draws(context.node());
  const auto mean = static_cast<double>(context.node().floatAttribute("mean", 0));
  const auto scale = static_cast<double>(context.node().floatAttribute("scale", 1));
  return drawn(context, [&](std::int64_t) { return mean + scale * draws.normal(); });
}

Result<Tensors> randomUniform(const KernelContext& context) {
  Draws draws(context.node());
  const auto low = static_cast<double>(context.node().floatAttribute("low", 0));
  const auto high = static_cast<double>(context.node().floatAttribute("high", 1));
  return drawn(context, [&](std::int64_t) { return low + (high - low) * draws.uniform(); });
}

// --- Bernoulli and Multinomial

Result<Types> inferBernoulli(const InferContext& context) {
  const DataType type = TRY(typeAttribute(context.node(), "dtype", context.input(0).dtype));
  if (!(kWideFloatTypes | kIntegerTypes | kBoolType).contains(type) && type != DataType::Undefined)
    return attributeProblem("dtype", fmt::format("Bernoulli cannot return the type {}", name(type)));
  return one(type, context.input(0).shape);
}

Result<Tensors> bernoulli(const KernelContext& context) {
  const Tensor& probabilities = context.input(0);
  for (std::int64_t i = 0; i < probabilities.count(); ++i)
    if (!(probabilities.asDouble(i) >= 0 && probabilities.asDouble(i) <= 1))
      return problem(fmt::format("element {} is {}, expected a probability from 0 to 1", i, probabilities.asDouble(i)));
  Draws draws(context.node());
  return drawn(context, [&](std::int64_t i) { return draws.uniform() < probabilities.asDouble(i) ? 1.0 : 0.0; });
}

Result<Types> inferMultinomial(const InferContext& context) {
  TRY(requireRank(context, 0, 2));
  const Shape& x = context.input(0).shape;
  const Dim samples = TRY(checkedExtent(context.node().intAttribute("sample_size", 1), "sample_size"));
  const DataType type = TRY(typeAttribute(context.node(), "dtype", DataType::I32));
  if (!kIndexTypes.contains(type))
    return attributeProblem("dtype", fmt::format("is {}, expected {}", name(type), kIndexTypes.text()));
  return one(type, Shape::of({x.ranked ? x.dims[0] : Dim(), samples}));
}

/// Returns running sums of exp(row), scaled so that the largest term is 1.
Result<std::vector<double>> cumulated(const Tensor& x, std::int64_t row) {
  const std::int64_t classes = x.dims()[1];
  double most = -INFINITY, sum = 0;
  for (std::int64_t k = 0; k < classes; ++k) most = std::max(most, x.asDouble(row * classes + k));
  std::vector<double> sums;
  for (std::int64_t k = 0; k < classes; ++k) sums.push_back(sum += std::exp(x.asDouble(row * classes + k) - most));
  if (!std::isfinite(sum) || sum <= 0)
    return problem(fmt::format("row {} has no outcome with a probability above 0", row));
  return sums;
}

Result<Tensors> multinomial(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Draws draws(context.node());
  Tensor wide = TRY(allocate(DataType::I64, context.outputDims(0)));
  const std::int64_t samples = wide.dims()[1];
  for (std::int64_t row = 0; samples > 0 && row < x.dims()[0]; ++row) {
    const std::vector<double> sums = TRY(cumulated(x, row));
    for (std::int64_t s = 0; s < samples; ++s) {
      const auto place = std::ranges::upper_bound(sums, draws.uniform() * sums.back()) - sums.begin();
      wide.mutableData<std::int64_t>()[static_cast<std::size_t>(row * samples + s)] =
          std::min<std::int64_t>(place, std::ssize(sums) - 1);
    }
  }
  return Tensors{wide.converted(context.outputType(0))};
}

// --- Dropout

Result<Types> inferDropout(const InferContext& context) {
  for (std::size_t i = 1; i < 3; ++i)
    if (context.hasInput(i) && knownProduct(context.input(i).shape.dims).value_or(1) != 1)
      return problem(fmt::format("{} must be a single number", i == 1 ? "ratio" : "training_mode"));
  return Types{context.input(0), {DataType::Bool, context.input(0).shape}};
}

Tensors withMask(const KernelContext& context, Tensor y, Tensor mask) {
  Tensors results{std::move(y)};
  if (context.outputCount() > 1) results.push_back(std::move(mask));
  return results;
}

/// Calculates y = x · mask / (1 - ratio) when training, where each element of the mask is false with probability
/// `ratio`. Otherwise returns the input and a mask of ones.
Result<Tensors> dropout(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const bool training = context.hasInput(2) && context.input(2).asInt64(0) != 0;
  const double ratio = context.hasInput(1) ? context.input(1).asDouble(0) : 0.5;
  Tensor mask = TRY(allocate(DataType::Bool, x.dims()));
  if (!training || ratio == 0) {
    std::ranges::fill(mask.mutableData<std::uint8_t>(), std::uint8_t{1});
    return withMask(context, x, std::move(mask));
  }
  if (!(ratio > 0 && ratio < 1)) return problem(fmt::format("ratio is {}, expected 0 up to below 1", ratio));
  Draws draws(context.node());
  Tensor wide = TRY(allocate(DataType::F64, x.dims()));
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const bool kept = draws.uniform() >= ratio;
    mask.mutableData<std::uint8_t>()[static_cast<std::size_t>(i)] = kept ? 1 : 0;
    wide.mutableData<double>()[static_cast<std::size_t>(i)] = kept ? x.asDouble(i) / (1 - ratio) : 0;
  }
  return withMask(context, x.type() == DataType::F64 ? std::move(wide) : wide.converted(x.type()), std::move(mask));
}

OpSchema random(std::string op, int inputs, InferFunction infer, KernelFunction kernel, OpSignature signature = {}) {
  return {.op = std::move(op),
          .kind = OpKind::Random,
          .minInputs = inputs,
          .maxInputs = inputs,
          .infer = std::move(infer),
          .kernel = std::move(kernel),
          .deterministic = false,
          .signature = std::move(signature)};
}

}  // namespace

void registerRandom(OpRegistry& registry) {
  const OpSignature drawnFrom{"T", {{'T', kWideFloatTypes}}}, any{"T", {{'T', kAnyType}}};
  registry.add(random("Bernoulli", 1, inferBernoulli, bernoulli, drawnFrom));
  registry.add({.op = "Dropout",
                .kind = OpKind::Random,
                .minInputs = 1,
                .maxInputs = 3,
                .infer = inferDropout,
                .kernel = dropout,
                .deterministic = false,
                .maxOutputs = 2,
                .signature = {"TRB", {{'T', kFloatTypes}, {'R', kFloatTypes}, {'B', kBoolType}}}});
  registry.add(random("Multinomial", 1, inferMultinomial, multinomial, drawnFrom));
  registry.add(random("RandomNormal", 0, inferRandom, randomNormal));
  registry.add(random("RandomNormalLike", 1, inferRandomLike, randomNormal, any));
  registry.add(random("RandomUniform", 0, inferRandom, randomUniform));
  registry.add(random("RandomUniformLike", 1, inferRandomLike, randomUniform, any));
}

}  // namespace fusescope::ops
